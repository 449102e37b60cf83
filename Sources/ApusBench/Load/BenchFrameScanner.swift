/// Finds the messages in a server's bytes. It reads only the headers and the first bytes of each
/// payload (RFC 6455 section 5.2).
///
/// The load tool must cost less than the server it measures. Therefore, unlike
/// `WebSocketFrameDecoder`, it neither copies whole payloads nor validates them.
struct BenchFrameScanner {
    /// The number of payload bytes passed on, enough to identify an Engine.IO or Socket.IO packet.
    static let shownBytes = 128

    /// A message that is not complete yet.
    private struct Partial {
        var opcode: UInt8
        var shown: [UInt8]
        /// The number of missing bytes of the current frame.
        var missing: Int
        var isFinal: Bool
    }

    private var partial: Partial?

    /// Scans `bytes`.
    ///
    /// - Parameter found: A function that is called for every complete message and control frame,
    ///   with the opcode and the beginning of the payload (all of it for a control frame).
    /// - Returns: The number of bytes consumed. The rest is an incomplete header or control frame,
    ///   to be passed again with more bytes. `nil` for a frame that is masked or uses an extension,
    ///   or whose length exceeds `Int.max`.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ found: (UInt8, UnsafeRawBufferPointer) -> Void) -> Int? {
        var offset = 0
        while true {
            if self.partial != nil { self.continuePartial(bytes, &offset, found) }
            // Inside a frame all bytes are consumed; between two frames of a message a header
            // follows.
            if let partial, partial.missing > 0 { return offset }
            let rest = bytes.count - offset
            guard rest >= 2 else { return offset }
            let opcode = bytes[offset] & 0x0f
            let isFinal = bytes[offset] & 0x80 != 0
            var length = Int(bytes[offset + 1])
            guard length < 0x80, bytes[offset] & 0x70 == 0 else { return nil }  // masked, or an extension that was not negotiated
            var header = 2
            if length == 126 {
                guard rest >= 4 else { return offset }
                length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
                header = 4
            } else if length == 127 {
                guard rest >= 10 else { return offset }
                guard let long = Int(exactly: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt64.self))) else {
                    return nil
                }
                length = long
                header = 10
            }
            let start = offset + header
            let isWhole = rest - header >= length
            if opcode >= 8 {
                guard isWhole else { return offset }
                found(opcode, UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
                offset = start + length
            } else if isWhole, isFinal, self.partial == nil {
                found(opcode, UnsafeRawBufferPointer(rebasing: bytes[start..<start + min(length, Self.shownBytes)]))
                offset = start + length
            } else {
                offset = start
                if self.partial == nil { self.partial = Partial(opcode: opcode, shown: [], missing: length, isFinal: isFinal) }
                self.partial?.missing = length
                self.partial?.isFinal = isFinal
            }
        }
    }

    private mutating func continuePartial(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ found: (UInt8, UnsafeRawBufferPointer) -> Void
    ) {
        guard var partial = self.partial.take() else { return }
        let length = min(partial.missing, bytes.count - offset)
        partial.shown += bytes[offset..<offset + min(length, Self.shownBytes - partial.shown.count)]
        partial.missing -= length
        offset += length
        guard partial.missing == 0, partial.isFinal else {
            self.partial = partial
            return
        }
        partial.shown.withUnsafeBytes { found(partial.opcode, $0) }
    }
}
