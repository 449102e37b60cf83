#include "CFreedMemory.h"

#ifdef __linux__
#include <stdlib.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

void apus_keep_freed_memory(int bytes) {
#ifdef __GLIBC__
    // Sets both: setting one of them stops the automatic adjustment of the other, and each block
    // above 128 KiB would then be returned to the system.
    mallopt(M_TRIM_THRESHOLD, bytes);
    mallopt(M_MMAP_THRESHOLD, bytes);
#else
    (void)bytes;
#endif
}
