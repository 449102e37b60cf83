#ifndef APUS_C_FREED_MEMORY_H
#define APUS_C_FREED_MEMORY_H

/// Makes glibc keep up to `bytes` of freed memory for each thread, instead of returning it to the
/// system. Has no effect with another C library.
void apus_keep_freed_memory(int bytes);

#endif
