#include "CCRC32C.h"

#include <string.h>

// The instruction has a latency of three cycles and a throughput of one per cycle, so that three
// lanes of the same bytes keep it busy. The registers of the lanes are combined by shifting the
// earlier ones over the bytes of the later lanes, as if these were zeros. The shift is linear, so a
// table lookup for each byte of the register replaces it.

#if defined(__x86_64__)

#include <nmmintrin.h>
#define ACCELERATED __attribute__((target("sse4.2")))
#define STEP8(crc, word) ((uint32_t)_mm_crc32_u64((crc), (word)))
#define STEP1(crc, byte) (_mm_crc32_u8((crc), (byte)))

bool apus_crc32c_is_supported(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && (defined(__APPLE__) || defined(__linux__))

#include <arm_acle.h>
#define ACCELERATED __attribute__((target("crc")))
#define STEP8(crc, word) (__crc32cd((crc), (word)))
#define STEP1(crc, byte) (__crc32cb((crc), (byte)))

#if defined(__APPLE__)
bool apus_crc32c_is_supported(void) { return true; }
#else
#include <sys/auxv.h>
bool apus_crc32c_is_supported(void) { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }  // HWCAP_CRC32
#endif

#else

#define ACCELERATED
#define STEP8(crc, word) (0)
#define STEP1(crc, byte) (0)

bool apus_crc32c_is_supported(void) { return false; }

#endif

static inline uint64_t load(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

ACCELERATED uint32_t apus_crc32c_bytes(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    for (; count >= 8; count -= 8, next += 8) crc = STEP8(crc, load(next));
    for (; count > 0; count -= 1, next += 1) crc = STEP1(crc, *next);
    return crc;
}

void apus_crc32c_make_shift(uint32_t *shift) {
    static const uint8_t zeros[APUS_CRC32C_LANE];
    uint32_t bits[32];
    for (int bit = 0; bit < 32; bit++) bits[bit] = apus_crc32c_bytes((uint32_t)1 << bit, zeros, sizeof(zeros));
    for (int index = 0; index < 4 * 256; index++) {
        shift[index] = 0;
        for (int bit = 0; bit < 8; bit++) {
            if (index >> bit & 1) shift[index] ^= bits[(index >> 8) * 8 + bit];
        }
    }
}

static inline uint32_t over_a_lane(uint32_t crc, const uint32_t *shift) {
    return shift[crc & 0xFF] ^ shift[0x100 | (crc >> 8 & 0xFF)] ^ shift[0x200 | (crc >> 16 & 0xFF)] ^ shift[0x300 | crc >> 24];
}

ACCELERATED uint32_t apus_crc32c_lanes(uint32_t crc, const void *bytes, size_t count, const uint32_t *shift) {
    const uint8_t *next = bytes;
    for (; count >= 3 * APUS_CRC32C_LANE; count -= 3 * APUS_CRC32C_LANE, next += 3 * APUS_CRC32C_LANE) {
        uint32_t second = 0, third = 0;
        for (size_t offset = 0; offset < APUS_CRC32C_LANE; offset += 8) {
            crc = STEP8(crc, load(next + offset));
            second = STEP8(second, load(next + APUS_CRC32C_LANE + offset));
            third = STEP8(third, load(next + 2 * APUS_CRC32C_LANE + offset));
        }
        crc = over_a_lane(crc, shift) ^ second;
        crc = over_a_lane(crc, shift) ^ third;
    }
    return apus_crc32c_bytes(crc, next, count);
}
