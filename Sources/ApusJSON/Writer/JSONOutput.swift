/// Gathers text in a small place and appends it in larger pieces: a byte at a time, an array costs several checks each.
struct JSONOutput {
    /// Enough for most messages.
    static let roomBytes = 1024

    private let room: UnsafeMutableBufferPointer<UInt8>
    private var count = 0
    private var bytes: [UInt8]

    /// - Parameters:
    ///   - room: Uninitialized, not empty; it must outlive the output.
    ///   - bytes: What the text is appended to; taken out until ``finish()``, so that it is filled and not copied.
    init(_ room: UnsafeMutableBufferPointer<UInt8>, appendingTo bytes: inout [UInt8]) {
        self.room = room
        self.bytes = []
        swap(&self.bytes, &bytes)
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        if self.count == self.room.count { self.flush() }
        self.room[self.count] = byte
        self.count &+= 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        self.append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        if text.count > self.room.count &- self.count {
            self.flush()
            guard text.count <= self.room.count else { return self.bytes.append(contentsOf: text) }
        }
        guard let source = text.baseAddress, let target = self.room.baseAddress else { return }
        (target + self.count).update(from: source, count: text.count)  // bytes are trivial: there is nothing to initialize
        self.count &+= text.count
    }

    private mutating func flush() {
        self.bytes.append(contentsOf: UnsafeBufferPointer(rebasing: self.room[..<self.count]))
        self.count = 0
    }

    /// Gives the bytes back, all of the text behind them.
    mutating func finish(into bytes: inout [UInt8]) {
        self.flush()
        swap(&self.bytes, &bytes)
    }
}
