public import NIOCore

/// The frames of one read, created one at a time during a single iteration.
@usableFromInline
package struct WebSocketFrameBatch {
    /// The position of a frame or of a piece of one. Without references, so that scanning does no
    /// reference counting.
    @usableFromInline
    struct Place {
        @usableFromInline var isFinal: Bool
        @usableFromInline var reserved: WebSocketReservedBits
        @usableFromInline var opcode: WebSocketOpcode
        /// The masking key; zero for an unmasked payload.
        var maskingKey: WebSocketMaskingKey
        /// The offset of the payload from the first readable byte.
        @usableFromInline var start: Int
        @usableFromInline var length: Int
        /// The number of payload bytes that have not arrived.
        @usableFromInline var missing: Int
        /// Whether the payload is known to be ASCII.
        @usableFromInline var isASCII = false

        /// Whether this is only part of a message. The connection's state machine then copies it.
        var isPiece: Bool { !self.isFinal || self.opcode == .continuation }
    }

    private static let maximumSparePlaces = 256

    @usableFromInline var places: [Place] = []
    /// The buffer that contains the payloads.
    @usableFromInline var bytes = ByteBuffer()
    @usableFromInline var position = 0
    /// Whether the payload of the last frame returned by ``next()`` is known to be ASCII.
    @usableFromInline package var isASCII = false

    /// Creates an empty batch.
    init() {}

    /// The number of frames, those already returned included.
    package var count: Int { self.places.count }

    /// Whether all frames were returned.
    package var isAtEnd: Bool { self.position >= self.places.count }

    /// The size of ``bytes``.
    package var byteCount: Int { self.bytes.readableBytes }

    /// Returns the next frame, or `nil` after the last.
    @inlinable
    package mutating func next() -> WebSocketFrame? {
        guard self.position < self.places.count else { return nil }
        let place = self.places[self.position]
        self.position &+= 1
        self.isASCII = place.isASCII
        let payload = self.bytes.getSlice(at: self.bytes.readerIndex &+ place.start, length: place.length) ?? ByteBuffer()
        return WebSocketFrame(
            isFinal: place.isFinal, reserved: place.reserved, opcode: place.opcode, payload: payload, missing: place.missing)
    }

    /// Unmasks the payloads into `target`, one after the other, and updates their offsets.
    ///
    /// - Returns: The number of bytes written.
    mutating func unmask(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) -> Int {
        var offset = 0
        for index in self.places.indices {
            let place = self.places[index]
            self.places[index].isASCII = place.maskingKey.copy(
                UnsafeRawBufferPointer(rebasing: source[place.start..<place.start &+ place.length]),
                to: UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset &+ place.length]))
            self.places[index].start = offset
            offset &+= place.length
        }
        return offset
    }

    /// Removes all frames and keeps the storage of their positions.
    mutating func clear() {
        self.places.removeAll(keepingCapacity: self.places.capacity <= Self.maximumSparePlaces)
        self.bytes = ByteBuffer()
        self.position = 0
    }
}
