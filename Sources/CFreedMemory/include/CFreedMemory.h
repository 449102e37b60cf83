#ifndef APUS_C_FREED_MEMORY_H
#define APUS_C_FREED_MEMORY_H

/// Has the C library keep up to `bytes` of freed memory a thread, instead of giving it back to the system. Does nothing where that is not glibc.
void apus_keep_freed_memory(int bytes);

#endif
