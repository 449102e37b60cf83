#ifndef APUS_CRC32C_H
#define APUS_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The length of one of the three lanes of `apus_crc32c_lanes`, in bytes.
#define APUS_CRC32C_LANE 4096

/// Whether this processor has an instruction for the CRC with Castagnoli's polynomial. None of the functions below may be called otherwise.
bool apus_crc32c_is_supported(void);

/// Feeds bytes to the register (which is not inverted), eight at a time.
uint32_t apus_crc32c_bytes(uint32_t crc, const void *bytes, size_t count);

/// Fills the table of 4 x 256 entries that moves a register over a lane of zeros.
void apus_crc32c_make_shift(uint32_t *shift);

/// As `apus_crc32c_bytes`, three lanes at a time.
uint32_t apus_crc32c_lanes(uint32_t crc, const void *bytes, size_t count, const uint32_t *shift);

#endif
