#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/// Allocations of this process since it began, all threads together.
uint64_t apus_allocation_count(void);

/// Bytes that are allocated now, as the allocator rounds them.
int64_t apus_allocated_bytes(void);

#endif
