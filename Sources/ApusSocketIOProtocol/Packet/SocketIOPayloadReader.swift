import ApusJSON
import NIOCore

/// Takes the arguments out of a payload one after the other, decoding no more than is asked for.
struct SocketIOPayloadReader {
    private var values: ArraySlice<SocketIOValue> = []
    private var text: ByteBuffer?

    init(_ payload: SocketIOPayload) {
        self.text = payload.text
        if self.text == nil { self.values = payload.arguments[...] }
    }

    /// The next argument; nil after the last.
    mutating func next() -> SocketIOValue? {
        guard let text = self.text else { return self.values.popFirst() }
        let (value, length) = text.withUnsafeReadableBytes { bytes -> (SocketIOValue?, Int) in
            var elements = JSONElements(bytes, limits: SocketIOPayload.limits)
            return (try? elements.next(), elements.offset)  // it was checked: there is no error to hand on
        }
        self.text?.moveReaderIndex(forwardBy: length)
        return value
    }
}
