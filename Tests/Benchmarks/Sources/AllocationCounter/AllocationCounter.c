#include "AllocationCounter.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_long blocks, bytes;
// Every program that links this gets the allocator below. A program that measures only time must not pay for counting.
static atomic_bool is_counting;

void count_heap_use(void) { atomic_store(&is_counting, true); }

HeapUse heap_use(void) {
    return (HeapUse){.blocks = atomic_load(&blocks), .bytes = atomic_load(&bytes)};
}

#if defined(__GLIBC__)
#include <errno.h>
#include <malloc.h>

// glibc lets a program define these functions, and keeps its own under other names.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static bool counts(void *block) {
    return __builtin_expect(atomic_load_explicit(&is_counting, memory_order_relaxed), false) && block;
}

static void *added(void *block) {
    if (counts(block)) {
        atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
    }
    return block;
}

static void *removed(void *block) {
    if (counts(block)) {
        atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
    }
    return block;
}

void *malloc(size_t size) { return added(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return added(__libc_calloc(count, size)); }
void *realloc(void *block, size_t size) {
    long old = counts(block) ? (long)malloc_usable_size(block) : 0;
    void *result = __libc_realloc(block, size);
    if (result || size == 0) {
        if (counts(block)) {
            atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
            atomic_fetch_sub_explicit(&bytes, old, memory_order_relaxed);
        }
        added(result);
    }
    return result;
}
void *memalign(size_t alignment, size_t size) { return added(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return added(__libc_memalign(alignment, size)); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    void *block = added(__libc_memalign(alignment, size));
    if (!block) return ENOMEM;
    *result = block;
    return 0;
}
void free(void *block) { __libc_free(removed(block)); }
#endif
