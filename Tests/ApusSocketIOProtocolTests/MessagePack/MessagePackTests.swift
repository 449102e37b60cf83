import ApusJSON
import ApusSocketIOProtocol
import Foundation
import NIOCore
import Testing

private func read(_ bytes: [UInt8], maximumDepth: Int = 512) throws -> SocketIOValue {
    try MessagePack.read(ByteBuffer(bytes: bytes), maximumDepth: maximumDepth)
}

private func written(_ value: SocketIOValue) throws -> [UInt8] {
    var buffer = ByteBuffer()
    try MessagePack.write(value, into: &buffer)
    return Array(buffer.readableBytesView)
}

private func run(_ head: [UInt8], _ byte: UInt8, _ count: Int) -> [UInt8] { head + [UInt8](repeating: byte, count: count) }

/// The formats of the specification, each with its first and last value.
private let table: [(value: SocketIOValue, bytes: [UInt8])] = [
    (nil, [0xc0]), (false, [0xc2]), (true, [0xc3]),
    (0, [0x00]), (127, [0x7f]), (-1, [0xff]), (-32, [0xe0]),
    (128, [0xcc, 0x80]), (255, [0xcc, 0xff]), (256, [0xcd, 1, 0]), (65_535, [0xcd, 0xff, 0xff]),
    (65_536, [0xce, 0, 1, 0, 0]), (4_294_967_295, [0xce, 0xff, 0xff, 0xff, 0xff]),
    (4_294_967_296, [0xcf, 0, 0, 0, 1, 0, 0, 0, 0]), (.integer(.max), [0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    (-33, [0xd0, 0xdf]), (-128, [0xd0, 0x80]), (-129, [0xd1, 0xff, 0x7f]), (-32_768, [0xd1, 0x80, 0]),
    (-32_769, [0xd2, 0xff, 0xff, 0x7f, 0xff]), (-2_147_483_648, [0xd2, 0x80, 0, 0, 0]),
    (-2_147_483_649, [0xd3, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]), (.integer(.min), [0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    (1.5, [0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]), (.double(3), [0xcb, 0x40, 0x08, 0, 0, 0, 0, 0, 0]),
    ("", [0xa0]), ("€😀", [0xa7, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80]),
    (.string(String(repeating: "a", count: 31)), run([0xbf], 0x61, 31)),
    (.string(String(repeating: "a", count: 32)), run([0xd9, 32], 0x61, 32)),
    (.string(String(repeating: "a", count: 255)), run([0xd9, 255], 0x61, 255)),
    (.string(String(repeating: "a", count: 256)), run([0xda, 1, 0], 0x61, 256)),
    (.string(String(repeating: "a", count: 65_536)), run([0xdb, 0, 1, 0, 0], 0x61, 65_536)),
    (.binary([]), [0xc4, 0]), (.binary([1, 2, 3]), [0xc4, 3, 1, 2, 3]),
    (.binary([UInt8](repeating: 7, count: 255)), run([0xc4, 255], 7, 255)),
    (.binary([UInt8](repeating: 7, count: 256)), run([0xc5, 1, 0], 7, 256)),
    (.binary([UInt8](repeating: 7, count: 65_536)), run([0xc6, 0, 1, 0, 0], 7, 65_536)),
    ([], [0x90]), ([1, [nil]], [0x92, 1, 0x91, 0xc0]),
    (.array(Array(repeating: 1, count: 15)), run([0x9f], 1, 15)),
    (.array(Array(repeating: 1, count: 16)), run([0xdc, 0, 16], 1, 16)),
    (.array(Array(repeating: 1, count: 65_536)), run([0xdd, 0, 1, 0, 0], 1, 65_536)),
    ([:], [0x80]), (["a": 1, "b": ["c": true]], [0x82, 0xa1, 0x61, 1, 0xa1, 0x62, 0x81, 0xa1, 0x63, 0xc3]),
]

private func date(_ seconds: Double) -> SocketIOValue { .date(Date(timeIntervalSince1970: seconds)) }

private let foreign: [(bytes: [UInt8], value: SocketIOValue)] = [
    ([0xcc, 1], 1), ([0xcd, 0, 1], 1), ([0xd0, 1], 1), ([0xd3, 0, 0, 0, 0, 0, 0, 0, 1], 1),  // not the shortest format
    ([0xca, 0x3f, 0xc0, 0, 0], 1.5),  // 32-bit float
    ([0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0], .double(9_223_372_036_854_775_808)),  // above 63 bits
    ([0xd9, 1, 0x61], "a"), ([0xdb, 0, 0, 0, 1, 0x61], "a"), ([0xdc, 0, 0], []), ([0xde, 0, 0], [:]),
    ([0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2], ["a": 2]),  // the last of equal names, as in JavaScript
    // Formats of JavaScript: undefined, a date, an ArrayBuffer, and numbers that JSON lacks.
    ([0xd4, 0, 0], nil), ([0x91, 0xd4, 0, 0], [nil]), ([0x82, 0xa1, 0x61, 0xd4, 0, 0, 0xa1, 0x62, 1], ["b": 1]),
    ([0xd7, 0, 0x00, 0x00, 0x00, 0xdf, 0xb7, 0x62, 0x9c, 0x00], date(960_854_400)),
    ([0xd7, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], nil),
    ([0xc7, 3, 0, 1, 2, 3], .binary([1, 2, 3])), ([0xc8, 0, 1, 0, 9], .binary([9])), ([0xc9, 0, 0, 0, 0, 0], .binary([])),
    ([0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0], nil), ([0xca, 0xff, 0x80, 0, 0], nil),
    // The timestamp of the specification in its three sizes.
    ([0xd6, 0xff, 0x39, 0x45, 0x79, 0x80], date(960_854_400)),
    ([0xd7, 0xff, 0x1d, 0xcd, 0x65, 0, 0x39, 0x45, 0x79, 0x80], date(960_854_400.125)),
    ([0xc7, 12, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], date(-1)),
]

private let malformed: [[UInt8]] = [
    [], [0xc1], [0xcc], [0xcd, 1], [0xcb, 0, 0, 0], [0xa2, 0x61], [0xd9], [0xd9, 2, 0x61], [0x91], [0x81], [0x81, 0xa1, 0x61],
    [0xc0, 0xc0],
    [0x81, 1, 1], [0x81, 0xc0, 1], [0x81, 0xc4, 1, 0x61, 1],
    [0xd4, 1, 0], [0xd5, 0, 1, 2], [0xd8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0xc7, 1, 5, 0], [0xd6, 0xfe, 0, 0, 0, 0],
    [0xc7, 0], [0xc7, 2, 0, 1],
]

@Suite struct MessagePackTests {
    @Test(arguments: table.indices) func bytesMatchTheSpecification(row: Int) throws {
        #expect(try written(table[row].value) == table[row].bytes)
        #expect(try read(table[row].bytes) == table[row].value)
    }

    @Test(arguments: [(15, 0x8f as UInt8), (16, 0xde), (65_535, 0xde), (65_536, 0xdf)]) func mapsOfEverySizeRoundTrip(
        count: Int, marker: UInt8
    ) throws {
        let object = SocketIOValue.object(JSONObject((0..<count).map { (key: String($0), value: .integer(Int64($0))) }))
        let bytes = try written(object)
        #expect(bytes.first == marker)
        #expect(try read(bytes) == object)
    }

    /// Formats of other encoders that this one does not write.
    @Test(arguments: foreign)
    func othersAreUnderstood(bytes: [UInt8], value: SocketIOValue) throws {
        #expect(try read(bytes) == value)
    }

    @Test(arguments: malformed)
    func malformedBytesAreRefused(bytes: [UInt8]) {
        let error = #expect(throws: SocketIOError.self) { try read(bytes) }
        #expect(error?.code == .malformedPacket)
    }

    /// The data announces four gigabytes or four thousand million elements, and contains a few
    /// bytes.
    @Test(arguments: [0xc6, 0xc9, 0xdb, 0xdd, 0xdf] as [UInt8]) func lengthsAreCheckedBeforeAllocation(marker: UInt8) {
        for length: [UInt8] in [[0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 9]] {
            let bytes = [UInt8](repeating: 0x91, count: 100) + [marker] + length + [0, 0]
            #expect(throws: SocketIOError.self) { try read(bytes) }
        }
    }

    /// docs/hazards.md, 11.
    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> [UInt8] { [UInt8](repeating: 0x91, count: depth) + [0xc0] }
        #expect(try read(nested(512)) != nil)
        #expect(throws: SocketIOError.self) { try read(nested(513)) }
        #expect(try read(nested(3), maximumDepth: 3) != nil)
        #expect(throws: SocketIOError.self) { try read(nested(4), maximumDepth: 3) }
        #expect(throws: SocketIOError.self) { try read(nested(1_000_000)) }
        #expect(throws: SocketIOError.self) { try read(nested(1_000_000), maximumDepth: .max) }
        var deep = SocketIOValue.null
        for _ in 0..<512 { deep = [deep] }
        #expect(try written(deep).count == 513)
        let error = #expect(throws: SocketIOError.self) { try written([deep]) }
        #expect(error?.code == .invalidUse)
    }

    /// The bytes of notepack.io 3.0.1 and @msgpack/msgpack 2.8 for JavaScript's dates, and of
    /// python's msgpack for a `datetime` with microseconds.
    @Test(
        arguments: [
            (1_700_000_000, [0xd6, 0xff, 0x65, 0x53, 0xf1, 0x00]),
            (1_700_000_000.123, [0xd7, 0xff, 0x1d, 0x53, 0x53, 0x00, 0x65, 0x53, 0xf1, 0x00]),
            (1_700_000_000.123456, [0xd7, 0xff, 0x1d, 0x6f, 0x28, 0x00, 0x65, 0x53, 0xf1, 0x00]),
            (-0.5, [0xc7, 12, 0xff, 0x1d, 0xcd, 0x65, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (8.64e12, [0xc7, 12, 0xff, 0, 0, 0, 0, 0, 0, 0x07, 0xdb, 0xa8, 0x21, 0x80, 0x00]),
            (0, [0xd6, 0xff, 0, 0, 0, 0]),
        ] as [(Double, [UInt8])])
    func datesStayDates(seconds: Double, bytes: [UInt8]) throws {
        #expect(try written(date(seconds)) == bytes)
        #expect(try written(read(bytes)) == bytes)
        #expect(try read(bytes) == date(seconds))
        #expect(try written([date(seconds)]) == [0x91] + bytes)
    }

    @Test(arguments: [Double.nan, .infinity, 1e300]) func datesOutOfRangeAreNull(seconds: Double) throws {
        #expect(try written(date(seconds)) == [0xc0])
    }

    /// A lone surrogate, as JavaScript peers write it, is read as U+FFFD.
    @Test(
        arguments: [([0xa1, 0xff], "\u{FFFD}"), ([0xa5, 0x61, 0xed, 0xa0, 0xbd, 0x62], "a\u{FFFD}\u{FFFD}\u{FFFD}b")] as [([UInt8], String)]
    )
    func bytesThatAreNotUTF8AreReplaced(bytes: [UInt8], text: String) throws {
        #expect(try read(bytes) == .string(text))
        #expect(try read([0x81] + bytes + [1]) == [text: 1])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func nonFiniteNumbersAreNotEncoded(number: Double) {
        let error = #expect(throws: SocketIOError.self) { try written(["a": [.double(number)]]) }
        #expect(error?.code == .invalidUse)
    }

    @Test func bytesNeverTrap() throws {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                _ = try? read([first, second])
                _ = try? read([first, second, 0, 0, 0, 0, 0, 0, 0, 0])
            }
        }
        let whole = try written([
            "a": [1, "€", .binary([1, 2]), 1.5, -70_000, ["b": [nil, true]]], "c": .string(String(repeating: "x", count: 300)),
        ])
        for count in whole.indices { #expect(throws: SocketIOError.self) { try read(Array(whole[..<count])) } }
    }
}
