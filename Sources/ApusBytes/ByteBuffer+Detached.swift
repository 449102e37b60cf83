package import NIOCore

extension ByteBuffer {
    /// A buffer with the same bytes, for long-term storage. The bytes are copied if they are a
    /// small part of the buffer's storage, so that the storage can be released.
    package var detached: ByteBuffer {
        self.storageCapacity > 2 * self.readableBytes + 256 ? ByteBuffer(bytes: self.readableBytesView) : self
    }
}
