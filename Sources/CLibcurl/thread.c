// For the name of a thread.
#define _GNU_SOURCE

#include "CLibcurl.h"

#if defined(__linux__)

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct body {
    void (*run)(void *);
    void *context;
};

static void *run(void *argument) {
    struct body body = *(struct body *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), "Deferred.curl");
    body.run(body.context);
    return NULL;
}

int quiet_thread_start(void (*function)(void *), void *context) {
    struct body *body = malloc(sizeof *body);
    if (!body) return -1;
    *body = (struct body){function, context};
    // A thread has the mask of the one that starts it.
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

#endif
