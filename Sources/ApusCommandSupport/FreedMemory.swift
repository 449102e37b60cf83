import CFreedMemory

/// What the C library does with memory that messages have given back.
package enum FreedMemory {
    /// The largest value glibc takes for blocks of their own (`DEFAULT_MMAP_THRESHOLD_MAX`), to which it goes up by itself in some programs.
    private static let keptBytes: CInt = 32 << 20

    /// Keeps up to 32 MiB a thread for the next messages; for servers.
    ///
    /// glibc gives everything above 128 KiB back at once, and the system then clears each page anew: an echo of 64 KiB over Socket.IO took 26
    /// page faults, which were three fifths of its cost. A program of one's own has the same by `MALLOC_TRIM_THRESHOLD_` and
    /// `MALLOC_MMAP_THRESHOLD_` in its environment (mallopt(3)).
    package static func keep() { apus_keep_freed_memory(self.keptBytes) }
}
