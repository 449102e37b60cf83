#include "CFreedMemory.h"

#ifdef __linux__
#include <stdlib.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

void apus_keep_freed_memory(int bytes) {
#ifdef __GLIBC__
    // Both: to set one ends the growth of the other, and blocks above 128 KiB would then be the system's each time.
    mallopt(M_TRIM_THRESHOLD, bytes);
    mallopt(M_MMAP_THRESHOLD, bytes);
#else
    (void)bytes;
#endif
}
