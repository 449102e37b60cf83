/// A small buffer before an output array: each byte that is appended directly to an array costs
/// several checks.
///
/// Its inlinable members are used by modules that write their own text around JSON values.
package struct JSONOutput {
    /// The size of the buffer, which fits most messages.
    private static let roomBytes = 1024

    @usableFromInline let room: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0
    private var bytes: [UInt8]

    private init(_ room: UnsafeMutableRawBufferPointer) {
        self.room = room
        self.bytes = []
    }

    /// Appends the output of `write` to `bytes`. After an error the bytes appended so far remain.
    package static func append(
        to bytes: inout [UInt8], _ write: (inout JSONOutput) throws(JSONError) -> Void
    ) throws(JSONError) {
        // Closures of the standard library do not rethrow typed errors.
        let failure = withUnsafeTemporaryAllocation(byteCount: Self.roomBytes, alignment: 1) { room -> JSONError? in
            var output = JSONOutput(room)
            // Move the bytes into the output, so that they are appended in place and not copied.
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

    @inlinable @inline(__always)
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
