// For `accept4`.
#define _GNU_SOURCE

#include "CDeferred.h"

_Thread_local DeferredNesting deferred_nesting_of_thread;

#if defined(__linux__)
#include <sys/socket.h>

int deferred_accept(int socket) {
    return accept4(socket, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
#endif
