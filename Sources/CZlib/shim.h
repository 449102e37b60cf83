// zlib's two macros as functions: Swift cannot call a macro with arguments.
#ifndef APUS_CZLIB_SHIM_H
#define APUS_CZLIB_SHIM_H

#include <zlib.h>

static inline int CZlib_deflateInit2(z_streamp stream, int level, int method, int windowBits, int memLevel, int strategy) {
    return deflateInit2(stream, level, method, windowBits, memLevel, strategy);
}

static inline int CZlib_inflateInit2(z_streamp stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}

#endif
