import ApusFramedProtocol
import Crypto
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file on its way out: reads it, and hashes it once, in order.
///
/// Blocks; one call at a time, which the transfer sees to.
final class SourceFile: @unchecked Sendable {
    // Unchecked because: one call at a time.

    let status: FileDescriptor.Status
    /// What makes two sendings of this file one upload.
    let id: String
    private let descriptor: FileDescriptor
    private var hasher = SHA256()
    private var hashed = 0

    /// Opens a file.
    ///
    /// - Throws: ``TransferError/Code/source`` when it cannot be read or is no file.
    init(path: String, name: String, followsLinks: Bool = true) throws(TransferError) {
        // A FIFO would make us wait for its writer.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard number >= 0 else { throw FileDescriptor.error("the file cannot be opened", .source) }
        let descriptor = FileDescriptor(number)
        let status = try descriptor.status()
        guard status.isFile else { throw TransferError(.source, message: "that is no file") }
        self.descriptor = descriptor
        self.status = status
        let text = "\(status.device)/\(status.inode)/\(status.size)/\(status.modified)/\(name)"
        self.id = SHA256.hash(data: Array(text.utf8)).hexadecimal
    }

    /// Opens a folder that holds nothing: a file without bytes, as far as the transfer goes.
    init(emptyFolder path: String, name: String) throws(TransferError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { throw FileDescriptor.error("the folder cannot be opened", .source) }
        let descriptor = FileDescriptor(number)
        var status = try descriptor.status()
        status.size = 0
        self.descriptor = descriptor
        self.status = status
        self.id = SHA256.hash(data: Array("folder/\(status.device)/\(status.inode)/\(name)".utf8)).hexadecimal
    }

    /// Reads a part that is not above a chunk.
    func read(at offset: Int, count: Int) throws(TransferError) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(count)
        var failure: CInt?
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
            var filled = 0
            while filled < count {
                guard let start = memory.baseAddress else { break }
                let result = FileDescriptor.retrying {
                    pread(self.descriptor.number, start + filled, count - filled, off_t(offset + filled))
                }
                guard result > 0 else {
                    if result < 0 { failure = errno }
                    break
                }
                filled += result
            }
            return filled
        }
        if let failure { throw FileDescriptor.error("the file cannot be read", .source, errno: failure) }
        guard buffer.readableBytes == count else {
            throw TransferError(.source, message: "the file got shorter while it was sent")
        }
        // What is read again was hashed before.
        if offset <= self.hashed, self.hashed < offset + count {
            let known = self.hashed - offset
            buffer.withUnsafeReadableBytes { self.hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0.dropFirst(known))) }
            self.hashed = offset + count
        }
        return buffer
    }

    /// The hash of the first bytes; those of the whole file are hashed from there on.
    func hashPrefix(_ length: Int) throws(TransferError) -> String {
        while self.hashed < length {
            _ = try self.read(at: self.hashed, count: min(TransferChunk.maximumBytes, length - self.hashed))
        }
        let copy = self.hasher
        return copy.finalize().hexadecimal
    }

    /// The hash of the whole file, of which every byte was read; and a look whether it is still the file that was offered.
    func wholeHash() throws(TransferError) -> String {
        var status = try self.descriptor.status()
        status.links = self.status.links  // another name for it changes nothing
        guard self.status.isFolder || status == self.status else {
            throw TransferError(.source, message: "the file changed while it was sent")
        }
        return try self.hashPrefix(self.status.size)
    }
}

extension SHA256.Digest {
    /// Lower-case digits.
    var hexadecimal: String {
        String(unsafeUninitializedCapacity: 64) { digits in
            let letters = Array("0123456789abcdef".utf8)
            var count = 0
            for byte in self {
                digits[count] = letters[Int(byte >> 4)]
                digits[count + 1] = letters[Int(byte & 15)]
                count += 2
            }
            return count
        }
    }
}
