/// Gathers text in a small place and appends it in larger pieces: a byte at a time, an array costs several checks each.
///
/// What is inlinable is so because other modules write their own text around values with it.
package struct JSONOutput {
    /// Enough for most messages.
    private static let roomBytes = 1024

    @usableFromInline let room: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0
    private var bytes: [UInt8]

    private init(_ room: UnsafeMutableRawBufferPointer) {
        self.room = room
        self.bytes = []
    }

    /// Appends to `bytes` what `write` appends to the output. What it had appended when it threw remains.
    package static func append(
        to bytes: inout [UInt8], _ write: (inout JSONOutput) throws(JSONError) -> Void
    ) throws(JSONError) {
        // The closures of the standard library do not pass typed errors on.
        let failure = withUnsafeTemporaryAllocation(byteCount: Self.roomBytes, alignment: 1) { room -> JSONError? in
            var output = JSONOutput(room)
            // Taken out until the end, so that they are filled and not copied.
            swap(&output.bytes, &bytes)
            defer {
                output.flush()
                swap(&output.bytes, &bytes)
            }
            do throws(JSONError) {
                try write(&output)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    @inlinable
    package mutating func append(_ byte: UInt8) {
        if self.count == self.room.count { self.flush() }
        self.room[self.count] = byte
        self.count &+= 1
    }

    @inlinable
    package mutating func append(_ text: UnsafeRawBufferPointer) {
        guard text.count <= self.room.count &- self.count else { return self.appendBeyondRoom(text) }
        guard let source = text.baseAddress, let target = self.room.baseAddress else { return }
        (target + self.count).copyMemory(from: source, byteCount: text.count)
        self.count &+= text.count
    }

    @inline(__always)
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) { self.append(UnsafeRawBufferPointer(text)) }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        self.append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @usableFromInline
    mutating func appendBeyondRoom(_ text: UnsafeRawBufferPointer) {
        self.flush()
        guard text.count <= self.room.count else { return self.bytes.append(contentsOf: text) }
        self.append(text)
    }

    @usableFromInline
    mutating func flush() {
        self.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: self.room[..<self.count]))
        self.count = 0
    }
}
