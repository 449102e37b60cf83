import NIOCore

/// What decoding needs for a moment: the frames of one read and the bytes of their payloads.
///
/// One serves all connections of an event loop, so that a busy one allocates nothing and an idle one keeps nothing.
package struct WebSocketFrameSpace {
    /// A frame, or a piece of one, that has come. Plain numbers: the bytes are looked through without counting references.
    struct Place {
        var isFinal: Bool
        var reserved: WebSocketReservedBits
        var opcode: WebSocketOpcode
        /// Zero leaves the payload as it is.
        var maskingKey: WebSocketMaskingKey
        /// Where the payload begins, from the first readable byte on.
        var start: Int
        var length: Int
        /// Bytes of the frame that have not come.
        var missing: Int

        /// Whether this is not a whole message: the connection's machine then copies it to the others.
        var isPiece: Bool { !self.isFinal || self.opcode == .continuation }

        func frame(_ payload: ByteBuffer) -> WebSocketFrame {
            WebSocketFrame(
                isFinal: self.isFinal, reserved: self.reserved, opcode: self.opcode, payload: payload, missing: self.missing)
        }
    }

    /// A larger buffer is let go of, unless all in it is copied: a message somebody keeps would keep it alive, however small it is.
    private static let maximumSpareBytes = 8 << 10
    private static let maximumSpareFrames = 256

    /// The frames of the last read.
    package var frames: [WebSocketFrame] = []
    private var places: [Place] = []
    private var payloads = ByteBuffer()
    private var payloadBytes = 0

    /// An empty space.
    package init() {}

    mutating func begin() {
        self.frames.removeAll(keepingCapacity: self.frames.capacity <= Self.maximumSpareFrames)
        self.places.removeAll(keepingCapacity: self.places.capacity <= Self.maximumSpareFrames)
        self.payloadBytes = 0
    }

    mutating func found(_ place: Place) {
        self.places.append(place)
        self.payloadBytes &+= place.length
    }

    /// The frames are parts of what was read: nothing was masked.
    mutating func cut(_ buffer: ByteBuffer) {
        for place in self.places {
            let payload = buffer.getSlice(at: buffer.readerIndex &+ place.start, length: place.length) ?? ByteBuffer()
            self.frames.append(place.frame(payload))
        }
    }

    /// The payloads are unmasked into a buffer of their own. What was read belongs to the channel as well: to change it would copy it.
    mutating func unmask(_ buffer: ByteBuffer) {
        guard !self.places.isEmpty else { return }
        let bytes = self.payloadBytes
        let isEnough = self.payloads.modifyIfUniquelyOwned { payloads in
            payloads.clear()
            return payloads.capacity >= bytes
        }
        if isEnough != true { self.payloads = ByteBufferAllocator().buffer(capacity: max(bytes, 256)) }
        buffer.withUnsafeReadableBytes { source in
            _ = self.payloads.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes) { target in
                var offset = 0
                for place in self.places where place.length > 0 {
                    place.maskingKey.copy(
                        UnsafeRawBufferPointer(rebasing: source[place.start..<place.start &+ place.length]),
                        to: UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset &+ place.length]))
                    offset &+= place.length
                }
                return offset
            }
        }
        var offset = 0
        for place in self.places {
            let payload = self.payloads.getSlice(at: offset, length: place.length) ?? ByteBuffer()
            offset &+= place.length
            self.frames.append(place.frame(payload))
        }
        if self.payloads.capacity > Self.maximumSpareBytes, !self.places.allSatisfy(\.isPiece) { self.payloads = ByteBuffer() }
    }

    /// Takes the frames out, for as long as they are worked on: what they lead to may lead to another read.
    package mutating func takeFrames() -> [WebSocketFrame] {
        var frames: [WebSocketFrame] = []
        swap(&frames, &self.frames)
        return frames
    }

    /// The frames were worked on: their storage can be used again.
    package mutating func giveBack(_ frames: consuming [WebSocketFrame]) {
        frames.removeAll(keepingCapacity: frames.capacity <= Self.maximumSpareFrames)
        self.frames = frames
    }
}
