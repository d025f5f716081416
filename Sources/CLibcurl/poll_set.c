#include "CLibcurl.h"

#if defined(__linux__)

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CURL_POLL_IN = 1, CURL_POLL_OUT = 2, CURL_CSELECT_IN = 1, CURL_CSELECT_OUT = 2, CURL_CSELECT_ERR = 4 };

/// The most events that one system call reports. Further events come with the next call.
#define MOST_EVENTS 64

int poll_set_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int poll_set_watch(int set, int descriptor, uint32_t owner, int what, bool is_known) {
    struct epoll_event event = {0};
    event.data.u64 = (uint64_t)owner << 32 | (uint32_t)descriptor;
    if (what == CURL_POLL_REMOVE) return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event);
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    return epoll_ctl(set, is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
}

int poll_set_wait(int set, struct poll_ready *ready, int capacity, int milliseconds) {
    struct epoll_event events[MOST_EVENTS];
    int count = epoll_wait(set, events, capacity < MOST_EVENTS ? capacity : MOST_EVENTS, milliseconds);
    for (int index = 0; index < count; index++) {
        uint32_t bits = events[index].events;
        ready[index].descriptor = (int)(uint32_t)events[index].data.u64;
        ready[index].owner = (uint32_t)(events[index].data.u64 >> 32);
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
