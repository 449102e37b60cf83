import CFreedMemory

/// Controls whether the C library returns freed memory to the system.
package enum FreedMemory {
    /// The largest threshold that glibc accepts for separately mapped blocks
    /// (`DEFAULT_MMAP_THRESHOLD_MAX`). glibc itself raises the threshold up to this value in some
    /// programs.
    private static let keptBytes: CInt = 32 << 20

    /// Makes the C library retain up to 32 MiB of freed memory for each thread. Intended for
    /// servers.
    ///
    /// glibc returns freed memory above 128 KiB immediately, and the system then clears each page
    /// again. Without this setting, an echo of 64 KiB over Socket.IO causes 26 page faults, which
    /// use three fifths of its processor time. In other programs, the environment variables
    /// `MALLOC_TRIM_THRESHOLD_` and `MALLOC_MMAP_THRESHOLD_` (mallopt(3)) have the same effect.
    package static func keep() { apus_keep_freed_memory(self.keptBytes) }
}
