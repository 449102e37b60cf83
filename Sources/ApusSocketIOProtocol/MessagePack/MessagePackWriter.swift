import ApusJSON
import NIOCore

/// Appends MessagePack: integers in their shortest form, every other number as a float of 64 bits, bytes as bin.
enum MessagePackWriter {
    static func write(_ value: SocketIOValue, into buffer: inout ByteBuffer, depth: Int) throws(SocketIOError) {
        switch value {
        case .null: buffer.writeInteger(UInt8(0xc0))
        case .bool(let value): buffer.writeInteger(UInt8(value ? 0xc3 : 0xc2))
        case .integer(let value): self.write(value, into: &buffer)
        case .double(let value):
            guard value.isFinite else { throw self.refused("\(value)") }
            buffer.writeInteger(UInt8(0xcb))
            buffer.writeInteger(value.bitPattern)
        case .string(let value): try self.write(value, into: &buffer)
        case .binary(let bytes):
            try self.writeHeader(bytes.count, short: nil, byte: 0xc4, word: 0xc5, into: &buffer)
            buffer.writeBytes(bytes)
        case .array(let elements):
            try self.checkDepth(depth)
            try self.writeArrayHeader(elements.count, into: &buffer)
            for element in elements { try self.write(element, into: &buffer, depth: depth + 1) }
        case .object(let object):
            try self.checkDepth(depth)
            try self.writeMapHeader(object.count, into: &buffer)
            for member in object {
                try self.write(member.key, into: &buffer)
                try self.write(member.value, into: &buffer, depth: depth + 1)
            }
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

    /// A count or length, in the shortest of the forms its kind has: in the marker, in one byte, in two, in four (whose marker follows).
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
            throw self.refused("a length of \(count), which 32 bits do not hold")
        }
    }

    /// As the JSON writer: no reader of ours would take it back, and the stack is finite.
    private static func checkDepth(_ depth: Int) throws(SocketIOError) {
        guard depth < JSONReader.Limits.highestDepth else {
            throw self.refused("a value nested deeper than \(JSONReader.Limits.highestDepth) levels")
        }
    }

    private static func refused(_ what: String) -> SocketIOError {
        SocketIOError(.invalidArguments, message: "\(what) cannot be sent as MessagePack")
    }
}
