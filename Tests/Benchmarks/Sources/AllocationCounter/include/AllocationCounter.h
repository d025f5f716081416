/// Heap use of this process: live blocks, and their sizes as the allocator rounds them.
typedef struct {
    long blocks;
    long bytes;
} HeapUse;

/// Begins to count.
void count_heap_use(void);

/// Since `count_heap_use`. Zero everywhere but with glibc.
HeapUse heap_use(void);
