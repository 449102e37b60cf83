// `sqlite3_config` as a function: Swift cannot call a function with variable arguments.
#ifndef APUS_CSQLITE_SHIM_H
#define APUS_CSQLITE_SHIM_H

#include <sqlite3.h>

/// Disables the statistics of memory use, for which each allocation locks a mutex of the process.
/// Must be called before the first connection is opened.
static inline int CSQLite_disableMemoryStatistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

#endif
