package import NIOCore

extension ByteBuffer {
    /// The same bytes for long-term storage. They are copied if they are a small part of their
    /// storage, so that the storage can be released.
    package var detached: ByteBuffer {
        self.storageCapacity > 2 * self.readableBytes + 256 ? ByteBuffer(bytes: self.readableBytesView) : self
    }
}
