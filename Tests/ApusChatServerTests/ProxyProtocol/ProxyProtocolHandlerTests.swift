import ApusConnectivity
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ApusChatServer

/// The PROXY header as the first bytes of a connection, in one or more pieces.
@Suite struct ProxyProtocolHandlerTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let text = Array("PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n".utf8)
    private static let binary =
        signature + [0x21, 0x11, 0x00, 0x10, 192, 0, 2, 1, 192, 0, 2, 2, 0xDC, 0x04, 0x01, 0xBB, 0x04, 0x00, 0x01, 0x00]
    private static let local = signature + [0x20, 0x00, 0x00, 0x00]

    /// A connection whose first handler reads the header.
    private struct Connection {
        let channel: EmbeddedChannel
        let client: ProxiedClient

        init() throws {
            self.client = ProxiedClient()
            self.channel = EmbeddedChannel(
                handler: ProxyProtocolHandler(client: self.client, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
            try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func receive(_ bytes: some Collection<UInt8>) throws { try self.channel.writeInbound(ByteBuffer(bytes: bytes)) }

        /// Returns the bytes that passed the handler since the last call.
        func read() throws -> [UInt8] {
            var all: [UInt8] = []
            while let part = try self.channel.readInbound(as: ByteBuffer.self) { all += part.readableBytesView }
            return all
        }

        /// Whether the handler has removed itself.
        var isDone: Bool { (try? self.channel.pipeline.syncOperations.handler(type: ProxyProtocolHandler.self)) == nil }

        func finish() { _ = try? self.channel.finish(acceptAlreadyClosed: true) }
    }

    private static let headers: [([UInt8], String?)] = [
        (text, "192.0.2.1"), (binary, "192.0.2.1"), (local, nil), (Array("PROXY UNKNOWN\r\n".utf8), nil),
    ]

    /// The bytes after the header. They may look like a further header, which is not parsed.
    private static let rests: [[UInt8]] = [[], Array("GET / HTTP/1.1\r\n".utf8), [0x16, 0x03, 0x01], text, binary]

    @Test func aHeaderIsReadInTwoPiecesOfAnySizes() throws {
        for (header, address) in Self.headers {
            for rest in Self.rests {
                let bytes = header + rest
                for split in 0...bytes.count {
                    let connection = try Connection()
                    try connection.receive(bytes[..<split])
                    #expect(connection.isDone == (split >= header.count))
                    try connection.receive(bytes[split...])
                    #expect(try connection.read() == rest)
                    #expect(connection.isDone && connection.channel.isActive)
                    #expect(connection.client.address == address.flatMap { IPAddress($0) })
                    connection.finish()
                }
            }
        }
    }

    @Test func aHeaderIsReadByteByByte() throws {
        for (header, address) in Self.headers {
            let connection = try Connection()
            for byte in header {
                #expect(connection.client.address == nil)
                try connection.receive([byte])
            }
            #expect(connection.client.address == address.flatMap { IPAddress($0) })
            for byte in Self.text { try connection.receive([byte]) }
            #expect(try connection.read() == Self.text)
            connection.finish()
        }
    }

    /// Each case is bytes without a valid header, and the number of them after which the connection
    /// closes.
    @Test func aConnectionWithoutAHeaderIsClosedAsSoonAsThatIsKnown() throws {
        let longLine = Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 0x41, count: 200)
        let cases: [([UInt8], Int)] = [
            (Array("GET / HTTP/1.1\r\n".utf8), 1), (Array("PROXZ TCP4".utf8), 5), (Array("PROXYTCP4".utf8), 6),
            ([0x16, 0x03, 0x01, 0x00], 1), (Array("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n".utf8), 35),
            (longLine, ProxyProtocolHeader.textBytes),
            (Array(Self.signature.prefix(4)) + [0x01], 5), (Self.signature + [0x11, 0x11, 0x00, 0x0C], 16),
            (Self.signature + [0x21, 0x11, 0x10, 0x01], 16), (Self.signature + [0x21, 0x11, 0xFF, 0xFF], 16),
            (Self.signature + [0x21, 0x11, 0x00, 0x01, 0x00], 17),
        ]
        for (bytes, count) in cases {
            let connection = try Connection()
            for (index, byte) in bytes.prefix(count).enumerated() {
                #expect(connection.channel.isActive, "\(bytes.prefix(index))")
                try connection.receive([byte])
            }
            #expect(!connection.channel.isActive, "\(bytes.prefix(count))")
            // A valid header after the close is ignored.
            try? connection.receive(Self.text + [0x41])
            #expect(try connection.read().isEmpty && connection.client.address == nil)
            connection.finish()
        }
    }

    @Test func aConnectionThatEndsWithinTheHeaderReadsNothing() throws {
        for header in [Self.text, Self.binary] {
            let connection = try Connection()
            try connection.receive(header.dropLast())
            _ = try? connection.channel.finish(acceptAlreadyClosed: true)
            #expect(try connection.read().isEmpty && connection.client.address == nil)
        }
    }

    /// The largest header of version 2: 4,096 bytes of addresses and extensions.
    @Test func theLargestHeaderIsRead() throws {
        let addresses: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0, 1, 0, 2]
        let header = Self.signature + [0x21, 0x11, 0x10, 0x00] + addresses + [UInt8](repeating: 0x04, count: 4_096 - 12)
        let connection = try Connection()
        try connection.receive(header.dropLast())
        #expect(!connection.isDone)
        try connection.receive([0x04, 0x41])
        #expect(try connection.read() == [0x41])
        #expect(connection.client.address == IPAddress("192.0.2.1"))
        connection.finish()
    }
}

/// The header field with the address of the client, behind a proxy that writes a PROXY header.
@Suite struct ForwardedClientHandlerTests {
    private func forwarded(_ fields: [(String, String)], client text: String?) throws -> HTTPHeaders {
        let client = ProxiedClient()
        client.address = text.flatMap { IPAddress($0) }
        let channel = EmbeddedChannel(handler: ForwardedClientHandler(client: client))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: HTTPHeaders(fields))
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        guard case .head(let read)? = try channel.readInbound(as: HTTPServerRequestPart.self) else { return [:] }
        #expect(read.uri == "/" && read.method == .GET)
        return read.headers
    }

    /// The server ignores all addresses that the fields of a client claim.
    @Test func theClientCannotChooseItsAddress() throws {
        let claims: [[(String, String)]] = [
            [], [("X-Forwarded-For", "203.0.113.9")], [("x-forwarded-for", "203.0.113.9"), ("X-FORWARDED-FOR", "203.0.113.8, 10.0.0.1")],
            [("Forwarded", "for=203.0.113.9"), ("forwarded", "for=\"[2001:db8::9]\"")],
        ]
        for claim in claims {
            let fields = [("Host", "a")] + claim + [("Accept", "b")]
            for client in ["192.0.2.1", "2001:db8::1"] {
                let headers = try self.forwarded(fields, client: client)
                #expect(headers["x-forwarded-for"] == [client] && !headers.contains(name: "forwarded"))
                #expect(headers["host"] == ["a"] && headers["accept"] == ["b"] && headers.count == 3)
            }
            // A connection that the proxy opens for itself has no client.
            let headers = try self.forwarded(fields, client: nil)
            #expect(headers.count == 2 && !headers.contains(name: "x-forwarded-for"))
        }
    }

    @Test func everyRequestOfAConnectionHasTheAddress() throws {
        let client = ProxiedClient()
        client.address = IPAddress("192.0.2.1")
        let channel = EmbeddedChannel(handler: ForwardedClientHandler(client: client))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: ["X-Forwarded-For": "203.0.113.9"])
        let body = ByteBuffer(string: "X-Forwarded-For: 203.0.113.9")
        for _ in 0..<2 {
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            try channel.writeInbound(HTTPServerRequestPart.body(body))
            try channel.writeInbound(HTTPServerRequestPart.end(["X-Forwarded-For": "203.0.113.9"]))
            var expected = head
            expected.headers = ["X-Forwarded-For": "192.0.2.1"]
            #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .head(expected))
            #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .body(body))
            // The server does not read the address from trailers, so they are left as they are.
            #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .end(["X-Forwarded-For": "203.0.113.9"]))
        }
    }
}
