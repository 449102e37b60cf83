import ApusChatStorage
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
    /// Writes a file, which replaces an existing one of the same name. The content and the name are
    /// on disk when the method returns.
    static func replace(_ path: String, with bytes: [UInt8], in folder: String) throws(StorageError) {
        let temporary = path + ".new"
        do throws(StorageError) {
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_TRUNC)
            try file.write(bytes, at: 0)
            try file.sync()
        } catch {
            self.remove(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else { throw self.failure("renamed", temporary) }
        try self.syncFolder(folder)
    }

    /// The flags to open a file for writing: creates the file, or removes its content.
    static let newFile = O_WRONLY | O_CREAT | O_TRUNC

    /// Renames a file, and replaces an existing file of the new name. The change is not durable.
    static func move(_ path: String, to name: String) throws(StorageError) {
        guard rename(path, name) == 0 else { throw self.failure("renamed", path) }
    }

    /// Adds a second name to a file. An existing file with that name is kept, because names are
    /// hashes of the content.
    static func link(_ path: String, as name: String) throws(StorageError) {
        #if canImport(Darwin)
            let result = Darwin.link(path, name)
        #elseif canImport(Musl)
            let result = Musl.link(path, name)
        #else
            let result = Glibc.link(path, name)
        #endif
        guard result == 0 || errno == EEXIST else { throw self.failure("linked", name) }
    }

    static func makeFolder(_ path: String) throws(StorageError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw self.failure("created", path) }
    }

    /// Syncs the names in a folder to disk.
    static func syncFolder(_ path: String) throws(StorageError) {
        let file = try OpenFile(path, O_RDONLY)
        try file.sync()
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func remove(_ path: String) { _ = unlink(path) }

    /// Returns the content of a file; nil if it cannot be read or is longer than `limit`.
    static func bytes(of path: String, upTo limit: Int) -> [UInt8]? {
        guard let file = try? OpenFile(path, O_RDONLY), let size = try? file.size(), size <= limit else { return nil }
        return (try? file.read(at: 0, count: Int(size))).flatMap { $0.readableBytes == Int(size) ? Array($0.readableBytesView) : nil }
    }

    static func failure(_ what: String, _ path: String) -> StorageError {
        StorageError(
            errno == ENOSPC || errno == EDQUOT ? .full : .io, message: "\(path) cannot be \(what): \(String(cString: strerror(errno)))")
    }
}

/// An open file. It is closed when its last reference is released. The methods block.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let path: String

    init(_ path: String, _ flags: Int32) throws(StorageError) {
        self.path = path
        self.descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard self.descriptor >= 0 else { throw DurableFile.failure("opened", path) }
    }

    deinit { _ = close(self.descriptor) }

    func size() throws(StorageError) -> Int64 {
        let end = lseek(self.descriptor, 0, SEEK_END)
        guard end >= 0 else { throw DurableFile.failure("examined", self.path) }
        return Int64(end)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(StorageError) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(self.descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(start) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw DurableFile.failure("written", self.path) }
            done += count
        }
    }

    func write(_ bytes: [UInt8], at start: Int64) throws(StorageError) {
        var failure: StorageError?
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { try self.write(buffer, at: start) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Reads at most `count` bytes; fewer at the end of the file.
    func read(at start: Int64, count: Int) throws(StorageError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        while buffer.readableBytes < count {
            var result = 0
            let offset = off_t(start) + off_t(buffer.readableBytes)
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count - buffer.readableBytes) { room in
                repeat {
                    result = pread(self.descriptor, room.baseAddress, min(room.count, count), offset)
                } while result < 0 && errno == EINTR
                return max(0, result)
            }
            if result < 0 { throw DurableFile.failure("read", self.path) }
            if result == 0 { break }
        }
        return buffer
    }

    func sync() throws(StorageError) {
        guard fsync(self.descriptor) == 0 else { throw DurableFile.failure("synced", self.path) }
    }
}
