import ApusChatProtocol
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Blocking file operations with `fsync`.
enum DurableFile {
    /// Writes a new file and syncs it.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw self.failure("open") }
        defer { _ = close(descriptor) }
        try bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = self.writeOnce(descriptor, UnsafeRawBufferPointer(rebasing: buffer[offset...]))
                if count < 0 {
                    if errno == EINTR { continue }
                    throw self.failure("write")
                }
                offset += count
            }
        }
        guard fsync(descriptor) == 0 else { throw self.failure("fsync") }
    }

    /// Reads at most `count` bytes of a file; returns `nil` at its end and after an error.
    static func read(_ path: String, from offset: Int, count: Int) -> ByteBuffer? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var piece = ByteBufferAllocator().buffer(capacity: count)
        piece.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            var result: Int
            repeat { result = pread(descriptor, room.baseAddress, count, off_t(offset)) } while result < 0 && errno == EINTR
            return max(0, result)
        }
        return piece.readableBytes > 0 ? piece : nil
    }

    /// Creates an empty file that only its owner may read. An existing file is not changed.
    static func createPrivately(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw self.failure("open") }
        _ = close(descriptor)
    }

    /// Makes the names in a folder durable.
    static func syncFolder(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw self.failure("open") }
        defer { _ = close(descriptor) }
        guard fsync(descriptor) == 0 else { throw self.failure("fsync") }
    }

    static func rename(_ old: String, to new: String) throws {
        #if canImport(Darwin)
            let result = Darwin.rename(old, new)
        #elseif canImport(Musl)
            let result = Musl.rename(old, new)
        #else
            let result = Glibc.rename(old, new)
        #endif
        guard result == 0 else { throw self.failure("rename") }
    }

    static func remove(_ path: String) { _ = unlink(path) }

    private static func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            return Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            return Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            return Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func failure(_ call: String) -> ChatError {
        ChatError(.storage, message: "the server could not store this (\(call): \(String(cString: strerror(errno)))); send it again later")
    }
}
