#ifndef APUS_C_SQLITE_CONFIGURATION_H
#define APUS_C_SQLITE_CONFIGURATION_H

/// Disables the statistics of SQLite's memory use, for which each allocation locks a mutex of the
/// process. Has no effect after the first use of SQLite.
void apus_sqlite_disable_memory_statistics(void);

#endif
