/// Finds the messages in what a server says, looking at headers and at the first bytes of each payload only.
///
/// The load tool must cost less than the server it measures, so nothing is cut out, joined or checked here: that is the business of
/// `WebSocketFrameDecoder`. Source: RFC 6455 5.2.
struct BenchFrameScanner {
    /// So much of a message is shown; enough to tell an Engine.IO or Socket.IO packet by.
    static let shownBytes = 128

    /// A message of which the end has not come.
    private struct Partial {
        var opcode: UInt8
        var shown: [UInt8]
        /// Bytes of the present frame that have not come.
        var missing: Int
        var isFinal: Bool
    }

    private var partial: Partial?

    /// Looks through `bytes`.
    ///
    /// - Parameter found: Called for every whole message and control frame with its opcode and the beginning of its payload (of a control frame all of it).
    /// - Returns: The bytes looked at; the rest is the beginning of a header or control frame and wants to come again with more. `nil`: no server sends that.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ found: (UInt8, UnsafeRawBufferPointer) -> Void) -> Int? {
        var offset = 0
        while true {
            if self.partial != nil { self.continuePartial(bytes, &offset, found) }
            // Inside a frame all was taken; between two frames of a message a header comes next.
            if let partial, partial.missing > 0 { return offset }
            let rest = bytes.count - offset
            guard rest >= 2 else { return offset }
            let opcode = bytes[offset] & 0x0f
            let isFinal = bytes[offset] & 0x80 != 0
            var length = Int(bytes[offset + 1])
            guard length < 0x80, bytes[offset] & 0x70 == 0 else { return nil }  // masked, or an extension nobody asked for
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
