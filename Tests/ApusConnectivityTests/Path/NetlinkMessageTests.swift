import ApusSeededRandom
import NIOCore
import Testing

@testable import ApusConnectivity

/// Builds messages of the kernel.
enum Netlink {
    static func message(_ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, _ body: [UInt8] = []) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(16 + body.count), endianness: .host)
        buffer.writeInteger(type, endianness: .host)
        buffer.writeInteger(flags, endianness: .host)
        buffer.writeInteger(sequence, endianness: .host)
        buffer.writeInteger(UInt32(0), endianness: .host)
        buffer.writeBytes(body)
        buffer.writeRepeatingByte(0, count: (4 - body.count % 4) % 4)
        return buffer
    }

    static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes = withUnsafeBytes(of: UInt16(4 + value.count)) { Array($0) } + withUnsafeBytes(of: type) { Array($0) } + value
        bytes += Array(repeating: 0, count: (4 - value.count % 4) % 4)
        return bytes
    }

    static func link(_ index: UInt32, flags: UInt32 = 0x41) -> [UInt8] {
        [0, 0, 1, 0] + self.word(index) + self.word(flags) + self.word(0) + self.attribute(3, Array("eth0\0".utf8))
    }

    static func address(_ index: UInt32, _ bytes: [UInt8], scope: UInt8 = 0, flags: UInt8 = 0) -> [UInt8] {
        [2, 24, flags, scope] + self.word(index) + self.attribute(1, bytes)
    }

    static func defaultRoute(_ index: UInt32, via gateway: [UInt8], length: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1) -> [UInt8] {
        [2, length, 0, 0, table, 3, 0, type] + self.word(0) + self.attribute(4, self.word(index)) + self.attribute(5, gateway)
            + self.attribute(6, self.word(100))
    }
}

@Suite struct NetlinkMessageTests {
    private func content(_ type: UInt16, _ body: [UInt8] = []) throws -> NetlinkMessage.Content? {
        var buffer = Netlink.message(type, body)
        let message = try NetlinkMessage.next(from: &buffer)
        #expect(buffer.readableBytes == 0)
        return message?.content
    }

    @Test func links() throws {
        #expect(try self.content(16, Netlink.link(2)) == .link(.init(index: 2, isLoopback: false, isUsable: true), isGone: false))
        #expect(try self.content(17, Netlink.link(2, flags: 1)) == .link(.init(index: 2, isLoopback: false, isUsable: false), isGone: true))
        #expect(
            try self.content(16, Netlink.link(1, flags: 0x49)) == .link(.init(index: 1, isLoopback: true, isUsable: true), isGone: false))
    }

    @Test func addresses() throws {
        let ours: [UInt8] = [10, 0, 0, 2]
        #expect(
            try self.content(20, Netlink.address(2, ours))
                == .address(.init(index: 2, bytes: ours, isGlobal: true, isUsable: true), isGone: false))
        // On a point-to-point interface, IFA_ADDRESS is the peer's address.
        #expect(
            try self.content(20, Netlink.address(2, [10, 0, 0, 1]) + Netlink.attribute(2, ours))
                == .address(.init(index: 2, bytes: ours, isGlobal: true, isUsable: true), isGone: false))
        #expect(
            try self.content(21, Netlink.address(2, ours, scope: 253, flags: 0x40))
                == .address(.init(index: 2, bytes: ours, isGlobal: false, isUsable: false), isGone: true))
        #expect(
            try self.content(20, Netlink.address(2, ours) + Netlink.attribute(8, Netlink.word(0x48)))
                == .address(.init(index: 2, bytes: ours, isGlobal: true, isUsable: false), isGone: false))
    }

    @Test func routes() throws {
        let route = NetlinkMessage.DefaultRoute(family: 2, index: 2, gateway: [10, 0, 0, 1], metric: 100)
        #expect(try self.content(24, Netlink.defaultRoute(2, via: [10, 0, 0, 1])) == .defaultRoute(route, isGone: false))
        #expect(try self.content(25, Netlink.defaultRoute(2, via: [10, 0, 0, 1])) == .defaultRoute(route, isGone: true))
        #expect(try self.content(24, Netlink.defaultRoute(2, via: [10, 0, 0, 1], length: 24)) == .otherRoute)
        #expect(try self.content(24, Netlink.defaultRoute(2, via: [10, 0, 0, 1], table: 255)) == .otherRoute)
        #expect(try self.content(24, Netlink.defaultRoute(2, via: [10, 0, 0, 1], type: 7)) == .otherRoute)  // unreachable
    }

    @Test func control() throws {
        #expect(try self.content(1) == .other)
        #expect(try self.content(2, Netlink.word(UInt32(bitPattern: -16))) == .error(16))
        #expect(try self.content(2, Netlink.word(UInt32(bitPattern: .min))) == .error(.max))
        #expect(try self.content(3, Netlink.word(0)) == .done)
        #expect(try self.content(4) == .overrun)
        #expect(try self.content(28, [1, 2, 3]) == .other)
    }

    @Test func severalInOneDatagram() throws {
        var buffer = Netlink.message(24, flags: 2, sequence: 7, Netlink.defaultRoute(2, via: [10, 0, 0, 1]))
        buffer.writeImmutableBuffer(Netlink.message(3, flags: 0x12, sequence: 7, Netlink.word(0)))
        let first = try #require(try NetlinkMessage.next(from: &buffer))
        #expect(first.sequence == 7 && first.isPartOfDump && !first.isInterrupted)
        let second = try #require(try NetlinkMessage.next(from: &buffer))
        #expect(second.content == .done && second.isInterrupted)
        #expect(try NetlinkMessage.next(from: &buffer) == nil)
    }

    @Test func badLengthsAreErrors() {
        for length in [0, 15, 1000, .max] as [UInt32] {
            var buffer = Netlink.message(16, Netlink.link(2))
            buffer.setInteger(length, at: 0, endianness: .host)
            #expect(throws: NetlinkMessage.Malformed.self) { try NetlinkMessage.next(from: &buffer) }
        }
        for length in [3, 0, 0xFFFF] as [UInt16] {
            var buffer = Netlink.message(20, Netlink.address(2, [10, 0, 0, 1]))
            buffer.setInteger(length, at: 16 + 8, endianness: .host)
            #expect(throws: NetlinkMessage.Malformed.self) { try NetlinkMessage.next(from: &buffer) }
        }
        for type in [2, 16, 17, 20, 24] as [UInt16] {
            var buffer = Netlink.message(type, [1, 2, 3])
            #expect(throws: NetlinkMessage.Malformed.self) { try NetlinkMessage.next(from: &buffer) }
        }
    }

    /// 100,000 random or malformed datagrams do not trap or result in more messages than bytes.
    @Test func noiseNeverTraps() {
        var generator = SplitMix64(state: 20_261_121)
        let seeds = [
            Netlink.message(16, Netlink.link(2)), Netlink.message(20, Netlink.address(2, [10, 0, 0, 1])),
            Netlink.message(24, Netlink.defaultRoute(2, via: [10, 0, 0, 1])), Netlink.message(2, Netlink.word(1)),
        ]
        var machine = NetlinkPathStateMachine()
        _ = machine.opened()
        for round in 0..<100_000 {
            var buffer = ByteBuffer()
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                buffer.writeImmutableBuffer(seeds[Int.random(in: 0..<seeds.count, using: &generator)])
            }
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                buffer.setInteger(
                    UInt8.random(in: 0...255, using: &generator), at: Int.random(in: 0..<buffer.writerIndex, using: &generator))
            }
            if round % 3 == 0 { buffer.moveWriterIndex(to: Int.random(in: 0...buffer.writerIndex, using: &generator)) }
            var count = 0
            while count < 1000, let message = try? NetlinkMessage.next(from: &buffer) {
                count += 1
                _ = machine.receivedMessage(message)
            }
            #expect(count <= 30)
        }
    }
}
