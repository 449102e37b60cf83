import ApusJSON
import struct Foundation.Date
import NIOCore

/// Writes MessagePack: integers in the shortest format, other numbers as 64-bit floats, bytes as
/// bin, dates as timestamps.
enum MessagePackWriter {
    /// Writes a value in a loop, so that nesting cannot exhaust the stack.
    ///
    /// - Parameter depth: The number of arrays and maps that the caller wrote around the value.
    static func write(_ value: SocketIOValue, into buffer: inout ByteBuffer, depth: Int) throws(SocketIOError) {
        guard var current = JSONContainerCursor(value) else { return try self.write(scalar: value, into: &buffer) }
        // The containers around `current`. The array needs no allocation unless containers are
        // nested.
        var outer: [JSONContainerCursor] = []
        try self.open(current, depth: depth, into: &buffer)
        while true {
            guard let (name, value) = current.next() else {
                guard let last = outer.popLast() else { return }
                current = last
                continue
            }
            if let name { try self.write(name, into: &buffer) }
            if let inner = JSONContainerCursor(value) {
                outer.append(current)
                current = inner
                try self.open(current, depth: depth + outer.count, into: &buffer)
            } else {
                try self.write(scalar: value, into: &buffer)
            }
        }
    }

    private static func open(_ container: JSONContainerCursor, depth: Int, into buffer: inout ByteBuffer) throws(SocketIOError) {
        guard depth < JSONReader.Limits.highestDepth else {
            // The readers of this library have the same limit.
            throw self.refused("a value with more than \(JSONReader.Limits.highestDepth) levels of nesting")
        }
        if container.isObject {
            try self.writeMapHeader(container.count, into: &buffer)
        } else {
            try self.writeArrayHeader(container.count, into: &buffer)
        }
    }

    private static func write(scalar value: SocketIOValue, into buffer: inout ByteBuffer) throws(SocketIOError) {
        switch value {
        case .null, .array, .object: buffer.writeInteger(UInt8(0xc0))  // the caller handles containers
        case .bool(let value): buffer.writeInteger(UInt8(value ? 0xc3 : 0xc2))
        case .integer(let value): self.write(value, into: &buffer)
        case .double(let value):
            guard value.isFinite else { throw self.refused("\(value)") }
            buffer.writeInteger(UInt8(0xcb))
            buffer.writeInteger(value.bitPattern)
        case .string(let value): try self.write(value, into: &buffer)
        case .date(let value): self.write(value, into: &buffer)
        case .binary(let bytes):
            try self.writeHeader(bytes.count, short: nil, byte: 0xc4, word: 0xc5, into: &buffer)
            buffer.writeBytes(bytes)
        }
    }

    /// Writes the timestamp extension in its shortest format, or null for a date outside its range,
    /// as JavaScript does for an invalid date.
    private static func write(_ date: Date, into buffer: inout ByteBuffer) {
        guard let timestamp = MessagePackTimestamp(date) else { return _ = buffer.writeInteger(UInt8(0xc0)) }
        if timestamp.nanoseconds == 0, let seconds = UInt32(exactly: timestamp.seconds) {
            buffer.writeBytes([0xd6, 0xff])
            buffer.writeInteger(seconds)
        } else if let seconds = UInt64(exactly: timestamp.seconds), seconds < 1 << 34 {
            buffer.writeBytes([0xd7, 0xff])
            buffer.writeInteger(UInt64(timestamp.nanoseconds) << 34 | seconds)
        } else {
            buffer.writeBytes([0xc7, 12, 0xff])
            buffer.writeInteger(timestamp.nanoseconds)
            buffer.writeInteger(timestamp.seconds)
        }
    }

    static func write(_ text: String, into buffer: inout ByteBuffer) throws(SocketIOError) {
        try self.writeHeader(text.utf8.count, short: (0xa0, 31), byte: 0xd9, word: 0xda, into: &buffer)
        buffer.writeString(text)
    }

    static func writeArrayHeader(_ count: Int, into buffer: inout ByteBuffer) throws(SocketIOError) {
        try self.writeHeader(count, short: (0x90, 15), byte: nil, word: 0xdc, into: &buffer)
    }

    static func writeMapHeader(_ count: Int, into buffer: inout ByteBuffer) throws(SocketIOError) {
        try self.writeHeader(count, short: (0x80, 15), byte: nil, word: 0xde, into: &buffer)
    }

    static func write(_ value: Int64, into buffer: inout ByteBuffer) {
        if let small = Int8(exactly: value), small >= -32 {
            buffer.writeInteger(small)  // fixint, positive or negative
        } else if let value = UInt8(exactly: value) {
            buffer.writeInteger(UInt8(0xcc))
            buffer.writeInteger(value)
        } else if let value = UInt16(exactly: value) {
            buffer.writeInteger(UInt8(0xcd))
            buffer.writeInteger(value)
        } else if let value = UInt32(exactly: value) {
            buffer.writeInteger(UInt8(0xce))
            buffer.writeInteger(value)
        } else if let value = UInt64(exactly: value) {
            buffer.writeInteger(UInt8(0xcf))
            buffer.writeInteger(value)
        } else if let value = Int8(exactly: value) {
            buffer.writeInteger(UInt8(0xd0))
            buffer.writeInteger(value)
        } else if let value = Int16(exactly: value) {
            buffer.writeInteger(UInt8(0xd1))
            buffer.writeInteger(value)
        } else if let value = Int32(exactly: value) {
            buffer.writeInteger(UInt8(0xd2))
            buffer.writeInteger(value)
        } else {
            buffer.writeInteger(UInt8(0xd3))
            buffer.writeInteger(value)
        }
    }

    /// Writes a count or length in the shortest format: in the marker, or in one, two or four bytes
    /// after it. The marker for four bytes follows that for two bytes.
    private static func writeHeader(
        _ count: Int, short: (marker: UInt8, maximum: Int)?, byte: UInt8?, word: UInt8, into buffer: inout ByteBuffer
    ) throws(SocketIOError) {
        if let short, count <= short.maximum, let small = UInt8(exactly: count) {
            buffer.writeInteger(short.marker | small)
        } else if let byte, let count = UInt8(exactly: count) {
            buffer.writeInteger(byte)
            buffer.writeInteger(count)
        } else if let count = UInt16(exactly: count) {
            buffer.writeInteger(word)
            buffer.writeInteger(count)
        } else if let count = UInt32(exactly: count) {
            buffer.writeInteger(word + 1)
            buffer.writeInteger(count)
        } else {
            throw self.refused("a length of \(count), which exceeds 32 bits,")
        }
    }

    private static func refused(_ what: String) -> SocketIOError {
        SocketIOError(.invalidUse, message: "\(what) cannot be sent as MessagePack")
    }
}
