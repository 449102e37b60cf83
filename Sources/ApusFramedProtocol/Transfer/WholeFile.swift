package import NIOCore

/// A small file whose bytes follow its offer in the same frame.
///
/// Used only when the receiver announces ``capability`` in its hello. If the file arrives
/// incompletely, the receiver stores no part of it, so there is nothing to resume or to remove.
package enum WholeFile {
    /// The name of the capability in the hello.
    package static let capability = "whole-files"
    /// The maximum size of a file that is sent with its offer. Unit: bytes.
    package static let maximumBytes = 16 << 10
    /// The maximum number of concurrent files that are sent with their offers per connection, in
    /// addition to other transfers. Together they have at most 1 MiB.
    package static let maximumConcurrent = 64
    /// The maximum length of the body of an offer. Unit: bytes.
    static let maximumBodyBytes = TransferChunk.prefixBytes + Self.maximumBytes

    /// Encodes an offer with the bytes of the file. Set the stream with ``setStream(_:of:)`` before
    /// sending.
    ///
    /// - Parameter bytes: All bytes of the file.
    package static func frame(_ offer: TransferOffer, _ bytes: [UInt8]) throws(FramedError) -> ByteBuffer {
        let head = offer.head(stream: 0)
        var buffer = ByteBuffer()
        buffer.reserveCapacity(512 + head.bodyLength)
        try head.write(into: &buffer)
        if !bytes.isEmpty { TransferChunk.write(bytes, into: &buffer) }
        return buffer
    }

    /// Sets the stream of an encoded frame.
    package static func setStream(_ stream: UInt16, of frame: inout ByteBuffer) {
        frame.setInteger(stream, at: frame.readerIndex + FrameStart.streamOffset)
    }
}
