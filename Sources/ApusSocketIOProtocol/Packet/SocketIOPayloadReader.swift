import ApusJSON
import NIOCore

/// Reads the arguments of a payload one at a time, decoding each on demand.
struct SocketIOPayloadReader {
    private var values: ArraySlice<SocketIOValue> = []
    private var text: ByteBuffer?

    init(_ payload: SocketIOPayload) {
        self.text = payload.text
        if self.text == nil { self.values = payload.arguments[...] }
    }

    /// Returns the next argument, or nil after the last.
    mutating func next() -> SocketIOValue? {
        guard let text = self.text else { return self.values.popFirst() }
        let (value, length) = text.withUnsafeReadableBytes { bytes -> (SocketIOValue?, Int) in
            var elements = JSONElements(bytes, limits: SocketIOPayload.limits)
            return (try? elements.next(), elements.offset)  // validated, so there is no error
        }
        self.text?.moveReaderIndex(forwardBy: length)
        return value
    }
}
