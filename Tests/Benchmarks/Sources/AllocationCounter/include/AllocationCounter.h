/// Heap use of this process: live blocks, and their sizes as the allocator rounds them.
typedef struct {
    long blocks;
    long bytes;
} HeapUse;

/// Starts counting.
void count_heap_use(void);

/// Returns the change since `count_heap_use`. Always zero without glibc.
HeapUse heap_use(void);
