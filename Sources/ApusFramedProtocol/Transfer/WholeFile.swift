package import NIOCore

/// A small file whose bytes come with its offer: one frame there, one back.
///
/// Only to a receiver that says in its hello that it takes them. It keeps nothing of a file that does not arrive whole, so that there is nothing
/// to go on with and nothing to clear away.
package enum WholeFile {
    /// What the hello says.
    package static let capability = "whole-files"
    /// The largest file that comes so.
    package static let maximumBytes = 16 << 10
    /// The most of them that are under way on one connection, beside other transfers. They hold a MiB.
    package static let maximumUnderWay = 64
    /// The longest body of an offer.
    static let maximumBodyBytes = TransferChunk.prefixBytes + Self.maximumBytes

    /// The frame of an offer with the file behind it, on a stream that is set later.
    ///
    /// - Parameter bytes: All of the file's.
    package static func frame(_ offer: TransferOffer, _ bytes: [UInt8]) throws(FramedError) -> ByteBuffer {
        let head = offer.head(stream: 0)
        var buffer = ByteBuffer()
        buffer.reserveCapacity(512 + head.bodyLength)
        try head.write(into: &buffer)
        if !bytes.isEmpty { TransferChunk.write(bytes, into: &buffer) }
        return buffer
    }

    /// Sets the stream of a frame that was made without.
    package static func setStream(_ stream: UInt16, of frame: inout ByteBuffer) {
        frame.setInteger(stream, at: frame.readerIndex + FrameStart.streamOffset)
    }
}
