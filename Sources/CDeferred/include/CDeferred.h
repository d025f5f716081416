#ifndef CDEFERRED_H
#define CDEFERRED_H

// The two things that DeferredCore needs and Swift has no word for.
//
// A variable that each thread has for itself: `pthread_getspecific` takes some fifty instructions, with the call and the check that its key was made, at every fill.
// This takes one or two where the linker knows the offset, and a short call elsewhere. It holds plain numbers, which need
// no destructor: a thread may end at any moment, on any platform, and leaves nothing to be freed.
//
// And a strong reference to an object whose memory is there, unless the object is going: Swift has that for weak references
// alone, which allocate.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How deeply the work of the library nests on a thread; see `Trampoline`.
typedef struct {
    /// The levels that were entered and not left.
    int32_t depth;
    /// How many closures were put off, and have not run.
    int32_t putOffCount;
} DeferredNesting;

extern _Thread_local DeferredNesting deferred_nesting_of_thread;

/// The current thread's own. Not to be kept where a thread may change, as across an `await`.
static inline DeferredNesting *_Nonnull deferred_nesting(void) {
    return &deferred_nesting_of_thread;
}

/// A reference for the caller to release, or NULL if the object is being destroyed or has been. Its memory must be there,
/// as an unowned reference ensures.
void *_Nullable deferred_try_retain(void *_Nonnull object);

#ifdef __cplusplus
}
#endif

#endif
