// For `pthread_setname_np`.
#define _GNU_SOURCE

#include "CLibcurl.h"

#if defined(__linux__)

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct body {
    const char *name;
    void (*run)(void *);
    void *context;
};

static void *run(void *argument) {
    struct body body = *(struct body *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), body.name);
    body.run(body.context);
    return NULL;
}

int quiet_thread_start(const char *name, void (*function)(void *), void *context) {
    struct body *body = malloc(sizeof *body);
    if (!body) return ENOMEM;
    *body = (struct body){name, function, context};
    // A thread inherits the signal mask of the one that creates it.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int result = pthread_create(&thread, NULL, run, body);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == 0) {
        pthread_detach(thread);
    } else {
        free(body);
    }
    return result;
}

static atomic_int inside;
static atomic_bool is_exiting;
static _Thread_local bool is_inside;

void libcurl_enter(void) {
    // Either this sees the exit, or the exit sees this thread: both are sequentially consistent.
    atomic_fetch_add(&inside, 1);
    if (atomic_load(&is_exiting)) {
        atomic_fetch_sub(&inside, 1);
        for (;;) pause();
    }
    is_inside = true;
}

void libcurl_leave(void) {
    is_inside = false;
    atomic_fetch_sub(&inside, 1);
}

static void leave_in_peace(void) {
    atomic_store(&is_exiting, true);
    // For about a second at most: a user's closure on such a thread may not end. The exiting thread may itself be
    // inside.
    for (int round = 0; round < 10000 && atomic_load(&inside) > (is_inside ? 1 : 0); round++) usleep(100);
}

void libcurl_watch_exit(void) { atexit(leave_in_peace); }

#endif
