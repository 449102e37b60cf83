import ApusFramedProtocol
import Crypto
import NIOConcurrencyHelpers
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file to send. Reads the file, and hashes each byte once, in order.
///
/// A small file is read and hashed when it is opened, which takes one job of the thread pool
/// instead of three.
///
/// Its methods block. The transfer makes one call at a time.
final class SourceFile: Sendable {
    let status: FileDescriptor.Status
    /// The identifier of the upload, the same for each attempt. Only a reader of the file can
    /// compute it.
    let id: String
    /// The content of a small file.
    let small: Small?
    /// The open file; `nil` for a small file, which is closed after reading.
    private let descriptor: FileDescriptor?
    private let prefix = NIOLockedValueBox(HashedPrefix())

    /// The part of the file that was hashed.
    private struct HashedPrefix: Sendable {
        var hasher = SHA256()
        var length = 0
    }

    struct Small: Sendable {
        var bytes: [UInt8]
        var hash: String
    }

    /// Opens a file.
    ///
    /// - Throws: `TransferError.Code.source` when it cannot be read or is not a regular file.
    init(path: String, name: String, followsLinks: Bool = true) throws(TransferError) {
        // O_NONBLOCK, because opening a FIFO would wait for its writer.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard number >= 0 else { throw FileDescriptor.error("the file cannot be opened", .source) }
        let descriptor = FileDescriptor(number)
        let status = try descriptor.status()
        guard status.isFile else { throw TransferError(.source, message: "the file is not a regular file") }
        self.status = status
        self.small = status.size <= WholeFile.maximumBytes ? try Self.readSmall(descriptor, status) : nil
        let text = "\(status.device)/\(status.inode)/\(status.size)/\(status.modified)/\(name)/\(self.small?.hash ?? "")"
        self.id =
            SHA256.hash(
                data: try Array(text.utf8) + (self.small == nil ? Self.sample(descriptor, status.size) : [])
            ).hexadecimal
        self.descriptor = self.small == nil ? descriptor : nil
    }

    /// Opens an empty folder, which is transferred like an empty file.
    init(emptyFolder path: String, name: String) throws(TransferError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { throw FileDescriptor.error("the folder cannot be opened", .source) }
        let descriptor = FileDescriptor(number)
        var status = try descriptor.status()
        status.size = 0
        self.descriptor = nil
        self.status = status
        self.id = SHA256.hash(data: Array("folder/\(status.device)/\(status.inode)/\(name)".utf8)).hexadecimal
        self.small = Small(bytes: [], hash: SHA256.hash(data: [UInt8]()).hexadecimal)
    }

    private static let sampleBytes = 4 << 10

    /// Returns the beginning and the end of a large file.
    private static func sample(_ descriptor: FileDescriptor, _ size: Int) throws(TransferError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 2 * Self.sampleBytes)
        var failure: TransferError?
        bytes.withUnsafeMutableBytes { memory in
            let (start, end) = (memory[..<Self.sampleBytes], memory[Self.sampleBytes...])
            failure = Self.fill(UnsafeMutableRawBufferPointer(rebasing: start), from: descriptor, at: 0)
            if failure == nil {
                failure = Self.fill(UnsafeMutableRawBufferPointer(rebasing: end), from: descriptor, at: size - Self.sampleBytes)
            }
        }
        if let failure { throw failure }
        return bytes
    }

    private static func readSmall(_ descriptor: FileDescriptor, _ status: FileDescriptor.Status) throws(TransferError) -> Small {
        var failure: TransferError?
        let bytes = [UInt8](unsafeUninitializedCapacity: status.size) { memory, count in
            failure = Self.fill(
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[..<status.size]), from: descriptor, at: 0)
            count = failure == nil ? status.size : 0
        }
        if let failure { throw failure }
        guard try descriptor.status().isUnchanged(since: status) else {
            throw TransferError(.source, message: "the file changed while it was read")
        }
        return Small(bytes: bytes, hash: SHA256.hash(data: bytes).hexadecimal)
    }

    /// Reads a range, and hashes the part of it that was not hashed yet.
    func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int) throws(TransferError) {
        if let failure = self.fill(memory, at: offset) { throw failure }
        // A range that is read again was hashed before.
        self.prefix.withLockedValue { prefix in
            guard offset <= prefix.length, prefix.length < offset + memory.count else { return }
            prefix.hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: memory[(prefix.length - offset)...]))
            prefix.length = offset + memory.count
        }
    }

    /// Appends a range to a buffer, without hashing it.
    func append(_ count: Int, at offset: Int, to buffer: inout ByteBuffer) throws(TransferError) {
        var failure: TransferError?
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
            failure = self.fill(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]), at: offset)
            return count
        }
        if let failure { throw failure }
    }

    /// Returns the error instead of throwing it, because closures that provide memory rethrow no
    /// typed errors.
    private func fill(_ memory: UnsafeMutableRawBufferPointer, at offset: Int) -> TransferError? {
        if let descriptor = self.descriptor { return Self.fill(memory, from: descriptor, at: offset) }
        guard let bytes = self.small?.bytes.dropFirst(offset), bytes.count >= memory.count else {
            return TransferError(.source, message: "the requested range exceeds the file")
        }
        memory.copyBytes(from: bytes.prefix(memory.count))
        return nil
    }

    private static func fill(_ memory: UnsafeMutableRawBufferPointer, from descriptor: FileDescriptor, at offset: Int) -> TransferError? {
        var filled = 0
        while filled < memory.count, let start = memory.baseAddress {
            let result = FileDescriptor.retrying {
                pread(descriptor.number, start + filled, memory.count - filled, off_t(offset + filled))
            }
            if result < 0 { return FileDescriptor.error("the file cannot be read", .source) }
            if result == 0 { return TransferError(.source, message: "the file became shorter while it was sent") }
            filled += result
        }
        return nil
    }

    /// Returns the hash of the first bytes. Later reads continue the hash from there.
    func hashPrefix(_ length: Int) throws(TransferError) -> String {
        if let small = self.small { return SHA256.hash(data: small.bytes.prefix(length)).hexadecimal }
        if self.hashedBytes < length {
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: TransferChunk.maximumBytes, alignment: 16)
            defer { room.deallocate() }
            while self.hashedBytes < length {
                let hashed = self.hashedBytes
                try self.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<min(room.count, length - hashed)]), at: hashed)
            }
        }
        return self.prefix.withLockedValue { $0.hasher }.finalize().hexadecimal
    }

    private var hashedBytes: Int { self.prefix.withLockedValue { $0.length } }

    /// Returns the hash of the whole file after all bytes were read, and checks that the file is
    /// unchanged.
    func wholeHash() throws(TransferError) -> String {
        if let small = self.small { return small.hash }
        guard try self.descriptor?.status().isUnchanged(since: self.status) == true else {
            throw TransferError(.source, message: "the file changed while it was sent")
        }
        return try self.hashPrefix(self.status.size)
    }
}
