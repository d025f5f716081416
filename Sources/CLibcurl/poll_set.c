// For `dup3`.
#define _GNU_SOURCE

#include "CLibcurl.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CURL_POLL_IN = 1, CURL_POLL_OUT = 2, CURL_CSELECT_IN = 1, CURL_CSELECT_OUT = 2, CURL_CSELECT_ERR = 4 };

/// The most events that one system call reports. Further events come with the next call.
#define MOST_EVENTS 64

/// Marks the owner of a descriptor whose connection is idle.
#define IDLE 0x80000000u

int poll_set_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int poll_set_watch(int set, int descriptor, uint32_t owner, int what, bool is_known) {
    struct epoll_event event = {0};
    event.data.u64 = (uint64_t)owner << 32 | (uint32_t)descriptor;
    if (what == CURL_POLL_REMOVE) return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event);
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (!is_known && epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
    // Known to libcurl, or idle until now.
    return is_known || errno == EEXIST ? epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) : -1;
}

int poll_set_watch_idle(int set, int descriptor, uint32_t owner) {
    struct epoll_event event = {0};
    event.data.u64 = (uint64_t)(owner | IDLE) << 32 | (uint32_t)descriptor;
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
    return epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event);
}

void poll_set_sever(int set, int descriptor) {
    struct epoll_event event = {0};
    epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event);
    int pair[2];
    bool is_severed = false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        close(pair[1]);
        is_severed = dup3(pair[0], descriptor, O_CLOEXEC) >= 0;
        close(pair[0]);
    }
    // Then at least the end is to be seen, behind the bytes.
    if (!is_severed) shutdown(descriptor, SHUT_RDWR);
}

int poll_set_close(void *set, int descriptor) {
    struct epoll_event event = {0};
    // An event of an idle connection must not be taken for one of whoever gets its number next.
    epoll_ctl((int)(intptr_t)set, EPOLL_CTL_DEL, descriptor, &event);
    return close(descriptor);
}

int poll_set_wait(int set, struct poll_ready *ready, int capacity, int milliseconds) {
    struct epoll_event events[MOST_EVENTS];
    int count = epoll_wait(set, events, capacity < MOST_EVENTS ? capacity : MOST_EVENTS, milliseconds);
    for (int index = 0; index < count; index++) {
        uint32_t bits = events[index].events;
        ready[index].descriptor = (int)(uint32_t)events[index].data.u64;
        uint32_t owner = (uint32_t)(events[index].data.u64 >> 32);
        ready[index].owner = owner & ~IDLE;
        ready[index].is_idle = owner & IDLE;
        ready[index].mask = (bits & EPOLLIN ? CURL_CSELECT_IN : 0) | (bits & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
            (bits & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    }
    return count < 0 ? 0 : count;
}

int wakeup_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void wakeup_signal(int descriptor) {
    const uint64_t one = 1;
    while (write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

void wakeup_clear(int descriptor) {
    uint64_t count;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) {}
}

#endif
