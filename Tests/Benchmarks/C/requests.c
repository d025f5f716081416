// Makes requests by libcurl alone, as the limit of what an engine over it can be: requests.c requests <count> <in flight>
// <url>. Two threads, each with a multi handle, epoll, and easy handles that are used again.
//
// It prints a sample like the others': see Sources/requests/Usage.swift.
#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static atomic_long left, failures;
static const char *url;

struct loop {
    CURLM *multi;
    int epoll, in_flight;
    long timeout;
};

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

/// The processor time that this process has used, in seconds.
static double processor(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/// A figure of /proc/self/status, in MiB.
static double status(const char *name) {
    char line[256];
    double result = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name))) result = strtod(line + strlen(name) + 1, NULL) / 1024;
    if (file) fclose(file);
    return result;
}

static size_t count_bytes(char *bytes, size_t size, size_t count, void *total) {
    (void)bytes;
    *(size_t *)total += size * count;
    return size * count;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy;
    struct loop *loop = context;
    struct epoll_event event = {.data.fd = socket};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE) event.events = 0;
    epoll_ctl(loop->epoll, what == CURL_POLL_REMOVE ? EPOLL_CTL_DEL : known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(loop->multi, socket, what == CURL_POLL_REMOVE ? NULL : loop);
    return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    ((struct loop *)context)->timeout = milliseconds;
    return 0;
}

/// Sends a handle's next request; frees it if none is left. Returns the number that were sent.
static int next(struct loop *loop, CURL *easy, size_t *total) {
    if (atomic_fetch_sub(&left, 1) <= 0) {
        curl_easy_cleanup(easy);
        free(total);
        return 0;
    }
    *total = 0;
    curl_multi_add_handle(loop->multi, easy);
    return 1;
}

static int end_all(struct loop *loop) {
    int ended = 0, rest;
    for (CURLMsg *message; (message = curl_multi_info_read(loop->multi, &rest));) {
        CURL *easy = message->easy_handle;
        size_t *total;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&total);
        if (message->data.result != CURLE_OK || *total != 1024) atomic_fetch_add(&failures, 1);
        curl_multi_remove_handle(loop->multi, easy);
        ended += 1 - next(loop, easy, total);
    }
    return ended;
}

/// Makes requests until none is left.
static void *run(void *context) {
    struct loop *loop = context;
    int running = 0, still;
    for (int i = 0; i < loop->in_flight; i++) {
        CURL *easy = curl_easy_init();
        size_t *total = malloc(sizeof *total);
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, total);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, total);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
        running += next(loop, easy, total);
    }
    while (running > 0) {
        struct epoll_event events[64];
        int count = epoll_wait(loop->epoll, events, 64, (int)loop->timeout);
        if (count == 0 || loop->timeout == 0) {
            loop->timeout = -1;
            curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &still);
        }
        for (int i = 0; i < count; i++) {
            int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
                | (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(loop->multi, events[i].data.fd, what, &still);
        }
        running -= end_all(loop);
    }
    return NULL;
}

static void run_all(struct loop loops[2], long count) {
    pthread_t threads[2];
    atomic_store(&left, count);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &loops[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    long count = atol(argv[2]);
    int in_flight = atoi(argv[3]);
    url = argv[4];
    curl_global_init(CURL_GLOBAL_ALL);
    struct loop loops[2];
    for (int i = 0; i < 2; i++) {
        loops[i] = (struct loop){curl_multi_init(), epoll_create1(EPOLL_CLOEXEC), (in_flight + 1 - i) / 2, -1};
        curl_multi_setopt(loops[i].multi, CURLMOPT_SOCKETFUNCTION, watch);
        curl_multi_setopt(loops[i].multi, CURLMOPT_SOCKETDATA, &loops[i]);
        curl_multi_setopt(loops[i].multi, CURLMOPT_TIMERFUNCTION, set_timer);
        curl_multi_setopt(loops[i].multi, CURLMOPT_TIMERDATA, &loops[i]);
        curl_multi_setopt(loops[i].multi, CURLMOPT_MAXCONNECTS, (long)in_flight);
    }
    run_all(loops, in_flight * 4);
    double start = now(), used = processor();
    atomic_store(&failures, 0);
    run_all(loops, count);
    double end = now(), cost = processor() - used;
    printf("{\"rate\":%f,\"processorMicroseconds\":%f,\"peak\":%f,\"resident\":%f,\"anonymous\":%f,\"failures\":%ld}\n",
        (double)count / (end - start), cost / (double)count * 1e6, status("VmHWM"), status("VmRSS"), status("RssAnon"),
        atomic_load(&failures));
    return 0;
}
