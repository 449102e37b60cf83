#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/// Returns the number of allocations of this process since its start, in all threads.
uint64_t apus_allocation_count(void);

/// Returns the number of allocated bytes, as rounded by the allocator.
int64_t apus_allocated_bytes(void);

#endif
