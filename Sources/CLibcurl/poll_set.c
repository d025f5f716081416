// For `dup3`.
#define _GNU_SOURCE

#include "CLibcurl.h"

#if defined(__linux__)

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CURL_CSELECT_IN = 1, CURL_CSELECT_OUT = 2, CURL_CSELECT_ERR = 4 };

/// What is known of a descriptor. Zero is true of one that the set doesn't contain.
struct entry {
    uint32_t owner;
    /// What it is watched for, in epoll's bits.
    uint16_t events;
    bool is_idle;
    /// True if its end is told of while it is idle.
    bool is_told;
    /// True if it isn't watched because its response is not to be read now.
    bool is_paused;
    /// True if it is the socket of a connection.
    bool is_open;
    /// True if it is in the bucket of its port, followed by the descriptor `next`, if any.
    bool is_listed;
    int next;
    int port;
};

enum { BUCKET_COUNT = 256, NONE = -1 };

struct poll_set {
    int epoll;
    int wakeup;
    /// At the numbers of descriptors.
    struct entry *entries;
    size_t count;
    /// The first of the descriptors that are, or were, idle, by the last bits of their local ports.
    int buckets[BUCKET_COUNT];
};

/// Returns a descriptor's entry, or NULL if no memory is available.
static struct entry *entry(poll_set set, int descriptor) {
    if ((size_t)descriptor >= set->count) {
        size_t count = ((size_t)descriptor + 64) * 2;
        struct entry *entries = realloc(set->entries, count * sizeof *entries);
        if (!entries) return NULL;
        memset(entries + set->count, 0, (count - set->count) * sizeof *entries);
        set->entries = entries;
        set->count = count;
    }
    return &set->entries[descriptor];
}

poll_set poll_set_create(void) {
    poll_set set = calloc(1, sizeof *set);
    if (!set) return NULL;
    for (int index = 0; index < BUCKET_COUNT; index++) set->buckets[index] = NONE;
    set->epoll = epoll_create1(EPOLL_CLOEXEC);
    set->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // By its edges: each signal is told of once, and nobody has to read it.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = (uint32_t)set->wakeup};
    if (set->epoll >= 0 && set->wakeup >= 0 && entry(set, set->wakeup) &&
        epoll_ctl(set->epoll, EPOLL_CTL_ADD, set->wakeup, &event) == 0) {
        return set;
    }
    const int error = errno;
    poll_set_destroy(set);
    errno = error;
    return NULL;
}

void poll_set_destroy(poll_set set) {
    if (set->epoll >= 0) close(set->epoll);
    if (set->wakeup >= 0) close(set->wakeup);
    free(set->entries);
    free(set);
}

static int control(poll_set set, int operation, int descriptor, const struct entry *entry) {
    struct epoll_event event = {.events = entry->events};
    event.data.u64 = (uint64_t)entry->owner << 32 | (uint32_t)descriptor;
    return epoll_ctl(set->epoll, operation, descriptor, &event);
}

/// Puts a descriptor into the bucket of its port, so that `poll_set_look` finds it.
static void list(poll_set set, int descriptor, struct entry *entry) {
    if (entry->is_listed) return;
    entry->is_listed = true;
    entry->port = connection_port(descriptor);
    int *bucket = &set->buckets[entry->port % BUCKET_COUNT];
    entry->next = *bucket;
    *bucket = descriptor;
}

static void unlist(poll_set set, int descriptor, const struct entry *entry) {
    if (!entry->is_listed) return;
    int *link = &set->buckets[entry->port % BUCKET_COUNT];
    while (*link != descriptor) link = &set->entries[*link].next;
    *link = entry->next;
}

int poll_set_watch(poll_set set, int descriptor, uint32_t owner, int what) {
    struct entry *known = entry(set, descriptor);
    if (!known) return -1;
    const struct entry old = *known;
    known->owner = owner;
    known->is_idle = known->is_told = known->is_paused = false;
    known->events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (old.is_idle && old.owner == owner && old.events == known->events) return 0;
    int operation = old.events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (control(set, operation, descriptor, known) == 0) return 0;
    // libcurl closes the descriptors of its resolver by itself.
    if (errno == ENOENT && control(set, EPOLL_CTL_ADD, descriptor, known) == 0) return 0;
    known->events = 0;
    return -1;
}

void poll_set_watch_idle(poll_set set, int descriptor) {
    struct entry *known = entry(set, descriptor);
    if (!known || !known->events) return;
    known->is_idle = true;
    list(set, descriptor, known);
    // A connection is mostly watched for a response at the end of one, and then this takes no system call.
    if (known->events == EPOLLIN) return;
    known->events = EPOLLIN;
    control(set, EPOLL_CTL_MOD, descriptor, known);
}

void poll_set_tell(poll_set set, int descriptor) {
    struct entry *known = entry(set, descriptor);
    if (known) known->is_told = known->is_idle;
}

void poll_set_pause(poll_set set, int descriptor) {
    struct entry *known = entry(set, descriptor);
    if (!known || !known->is_open) return;
    const bool was_watched = known->events;
    known->is_idle = false;
    known->is_paused = true;
    known->events = 0;
    list(set, descriptor, known);
    if (was_watched) control(set, EPOLL_CTL_DEL, descriptor, known);
}

void poll_set_end_pause(poll_set set, int descriptor, int port) {
    struct entry *known = entry(set, descriptor);
    if (!known || !known->is_paused || known->port != port) return;
    known->is_idle = true;
    known->is_paused = false;
    known->events = EPOLLIN;
    control(set, EPOLL_CTL_ADD, descriptor, known);
}

void poll_set_open(poll_set set, int descriptor) {
    struct entry *known = entry(set, descriptor);
    if (known) known->is_open = true;
}

void poll_set_remove(poll_set set, int descriptor) {
    struct entry *known = entry(set, descriptor);
    if (!known) return;
    const struct entry old = *known;
    unlist(set, descriptor, known);
    *known = (struct entry){.is_open = old.is_open};
    if (old.events) control(set, EPOLL_CTL_DEL, descriptor, known);
}

void poll_set_close_idle(poll_set set, int descriptor) {
    poll_set_remove(set, descriptor);
    int pair[2];
    bool is_closed = false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        close(pair[1]);
        is_closed = dup3(pair[0], descriptor, O_CLOEXEC) >= 0;
        close(pair[0]);
    }
    // Then at least the end is to be seen, behind the bytes.
    if (!is_closed) shutdown(descriptor, SHUT_RDWR);
}

static bool has_input(int descriptor) {
    char byte;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

static bool is_connected(int descriptor, const char *host, int port) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char text[INET6_ADDRSTRLEN];
    if (!host || getpeername(descriptor, (struct sockaddr *)&address, &size) != 0) return false;
    const struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
    const struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
    switch (address.ss_family) {
    case AF_INET: inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text); break;
    case AF_INET6: inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text); break;
    default: return false;
    }
    // The port is at the same place in both.
    return ntohs(v4->sin_port) == port && strcmp(text, host) == 0;
}

bool poll_set_look(poll_set set, int port, const char *host, int remote_port, bool has_more) {
    for (int descriptor = set->buckets[port % BUCKET_COUNT]; descriptor != NONE;) {
        struct entry *known = &set->entries[descriptor];
        if (known->port == port && (known->is_idle || known->is_paused)) {
            const bool must_close = has_more || has_input(descriptor);
            // Another connection may have the same port at this side.
            if ((must_close || known->is_paused) && is_connected(descriptor, host, remote_port)) {
                // The paused request has ended if another one is about to be sent, though nobody has told of that yet.
                known->is_idle = true;
                known->is_paused = false;
                if (must_close) poll_set_close_idle(set, descriptor);
                return must_close;
            }
        }
        descriptor = known->next;
    }
    return false;
}

int poll_set_find(poll_set set, int port, const char *host, int remote_port) {
    for (int descriptor = 0; (size_t)descriptor < set->count; descriptor++) {
        if (!set->entries[descriptor].is_open || connection_port(descriptor) != port) continue;
        if (is_connected(descriptor, host, remote_port)) return descriptor;
    }
    return NONE;
}

void poll_set_close_silent(poll_set set, uint32_t owner, const char *host, int remote_port, int64_t silence) {
    for (int descriptor = 0; (size_t)descriptor < set->count; descriptor++) {
        const struct entry *known = &set->entries[descriptor];
        if (!known->is_idle || known->owner != owner || connection_silence(descriptor) < silence) continue;
        if (!host || is_connected(descriptor, host, remote_port)) poll_set_close_idle(set, descriptor);
    }
}

int poll_set_close(void *set, int descriptor) {
    // An event of an idle connection must not be taken for one of whoever gets its number next.
    poll_set_remove(set, descriptor);
    struct entry *known = entry(set, descriptor);
    if (known) known->is_open = false;
    return close(descriptor);
}

int poll_set_wait(poll_set set, struct poll_ready *ready, int milliseconds) {
    struct epoll_event events[POLL_SET_MOST_EVENTS];
    int count = epoll_wait(set->epoll, events, POLL_SET_MOST_EVENTS, milliseconds);
    int ready_count = 0;
    // Before libcurl acts on any of them: it may close connections, whose descriptors others may get.
    for (int index = 0; index < count; index++) {
        uint32_t bits = events[index].events;
        int descriptor = (int)(uint32_t)events[index].data.u64;
        if (descriptor == set->wakeup) continue;
        if (set->entries[descriptor].is_idle) {
            const bool is_told = set->entries[descriptor].is_told;
            poll_set_close_idle(set, descriptor);
            if (!is_told) continue;
            bits = 0;
        }
        struct poll_ready *event = &ready[ready_count++];
        event->descriptor = descriptor;
        event->owner = (uint32_t)(events[index].data.u64 >> 32);
        event->mask = (bits & EPOLLIN ? CURL_CSELECT_IN : 0) | (bits & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
            (bits & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    }
    return ready_count;
}

void poll_set_wake(poll_set set) {
    const uint64_t one = 1;
    while (write(set->wakeup, &one, sizeof one) < 0 && errno == EINTR) {}
}

#endif
