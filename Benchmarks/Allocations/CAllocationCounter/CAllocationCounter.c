// Replaces glibc's allocator in the program and counts allocations. Without glibc, nothing is counted.
#define _GNU_SOURCE
#include "CAllocationCounter.h"
#include <stdlib.h>

#ifdef __GLIBC__
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic uint64_t count;
static _Atomic int64_t bytes;

static void *added(void *pointer) {
    if (pointer) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&bytes, (int64_t)malloc_usable_size(pointer), memory_order_relaxed);
    }
    return pointer;
}

static void gone(void *pointer) {
    if (pointer) atomic_fetch_sub_explicit(&bytes, (int64_t)malloc_usable_size(pointer), memory_order_relaxed);
}

void *malloc(size_t size) { return added(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return added(__libc_calloc(number, size)); }
void free(void *pointer) { gone(pointer); __libc_free(pointer); }
void *realloc(void *pointer, size_t size) { gone(pointer); return added(__libc_realloc(pointer, size)); }
void *memalign(size_t alignment, size_t size) { return added(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return added(__libc_memalign(alignment, size)); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    *result = added(__libc_memalign(alignment, size));
    return *result ? 0 : ENOMEM;
}

uint64_t apus_allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
int64_t apus_allocated_bytes(void) { return atomic_load_explicit(&bytes, memory_order_relaxed); }
#else
uint64_t apus_allocation_count(void) { return 0; }
int64_t apus_allocated_bytes(void) { return 0; }
#endif
