public import NIOCore

/// The frames of one read, to be gone through once. Each is made when it is asked for.
@usableFromInline
package struct WebSocketFrameBatch {
    /// A frame, or a piece of one, that has come. Plain numbers: the bytes are looked through without counting references.
    @usableFromInline
    struct Place {
        @usableFromInline var isFinal: Bool
        @usableFromInline var reserved: WebSocketReservedBits
        @usableFromInline var opcode: WebSocketOpcode
        /// Zero leaves the payload as it is.
        var maskingKey: WebSocketMaskingKey
        /// Where the payload begins, from the first readable byte on.
        @usableFromInline var start: Int
        @usableFromInline var length: Int
        /// Bytes of the frame that have not come.
        @usableFromInline var missing: Int
        /// Whether the payload is known to be ASCII.
        @usableFromInline var isASCII = false

        /// Whether this is not a whole message: the connection's machine then copies it to the others.
        var isPiece: Bool { !self.isFinal || self.opcode == .continuation }
    }

    private static let maximumSparePlaces = 256

    @usableFromInline var places: [Place] = []
    /// What the payloads are parts of.
    @usableFromInline var bytes = ByteBuffer()
    @usableFromInline var position = 0
    /// Whether the payload of the frame that ``next()`` answered last is known to be ASCII.
    @usableFromInline package var isASCII = false

    /// An empty batch.
    init() {}

    /// The frames of the batch, those included that were gone through.
    package var count: Int { self.places.count }

    /// Whether all frames were gone through.
    package var isAtEnd: Bool { self.position >= self.places.count }

    /// The bytes of the payloads.
    package var byteCount: Int { self.bytes.readableBytes }

    /// The next frame; `nil` after the last.
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

    /// Copies the payloads behind each other, unmasked; there they lie from now on.
    ///
    /// - Returns: Their bytes.
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

    /// Empties the batch; the storage for its places stays.
    mutating func clear() {
        self.places.removeAll(keepingCapacity: self.places.capacity <= Self.maximumSparePlaces)
        self.bytes = ByteBuffer()
        self.position = 0
    }
}
