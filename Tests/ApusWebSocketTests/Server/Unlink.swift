#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Removes a file. Returns whether it existed.
func unlinkFile(_ path: String) -> Bool { unlink(path) == 0 }
