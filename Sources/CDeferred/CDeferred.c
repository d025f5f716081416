#include "CDeferred.h"

_Thread_local DeferredNesting deferred_nesting_of_thread;

// Part of the Swift runtime's stable ABI.
void *swift_tryRetain(void *object);

void *deferred_try_retain(void *object) {
    return swift_tryRetain(object);
}
