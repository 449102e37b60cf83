#include "CSQLiteConfiguration.h"

#include <sqlite3.h>

void apus_sqlite_disable_memory_statistics(void) {
    // Swift cannot call this function, which has variable arguments.
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
