package import NIOCore

extension ByteBuffer {
    /// The same bytes for code that keeps them for some time: in memory of their own when they are a small part of what was
    /// read together with them.
    package var detached: ByteBuffer {
        self.storageCapacity > 2 * self.readableBytes + 256 ? ByteBuffer(bytes: self.readableBytesView) : self
    }
}
