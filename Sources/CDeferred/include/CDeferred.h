#ifndef CDEFERRED_H
#define CDEFERRED_H

// Three things that Swift lacks, two for DeferredCore and one for DeferredTesting.
//
// A thread-local variable: `pthread_getspecific` takes some fifty instructions, with the call and the check that its
// key was created, on every fill. This takes one or two where the linker knows the offset, and a short call elsewhere.
// It holds plain numbers, which need no destructor: a thread may end at any moment, on any platform, without leaving
// anything to free.
//
// And a strong reference to an object whose memory still exists, unless the object is being destroyed: Swift offers
// that only for weak references, which allocate.
//
// And `accept4`, which Swift's module of Glibc leaves out.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The nesting of the library's work on a thread; see `Trampoline`.
typedef struct {
    /// The number of levels that were entered and not left yet.
    int32_t depth;
    /// The number of deferred closures that have not run yet.
    int32_t putOffCount;
    /// The number of closures that run after all others.
    int32_t lastCount;
    /// The number of nested reads that are running deferred closures.
    int32_t readCount;
    /// Not zero on a thread that must not block, because others wait for it; see `DeferredDiagnostics`.
    int32_t isNeeded;
} DeferredNesting;

extern _Thread_local DeferredNesting deferred_nesting_of_thread;

/// Returns the current thread's nesting. Don't keep the pointer where the thread may change, as across an `await`.
static inline DeferredNesting *_Nonnull deferred_nesting(void) {
    return &deferred_nesting_of_thread;
}

/// Of the Swift runtime: returns a reference that the caller must release, or NULL if the object is being destroyed or
/// has been. Its memory must still exist, as an unowned reference ensures.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#if defined(__linux__)
/// Accepts a connection whose descriptor doesn't block, and which no child process inherits.
int deferred_accept(int socket);
#endif

#ifdef __cplusplus
}
#endif

#endif
