import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Testing

@testable import ApusConnectivity

@Suite struct HTTPResponseCollectorTests {
    private static let text = String(repeating: "hello 在吗 ", count: 100)
    /// The text as compressed by zlib in another language.
    private static let gzip = bytes("1f8b0800000000000203cb48cdc9c957783a67c5d309d315324639a39c51ce2867647300c964ce0914050000")
    private static let deflate = bytes("789ccb48cdc9c957783a67c5d309d315324639a39c51ce286764730022568da3")
    private static let bareDeflate = bytes("cb48cdc9c957783a67c5d309d315324639a39c51ce2867647300")
    /// 300,000 zeros.
    private static let bomb = bytes(
        "1f8b0800000000000203edc1010d000000c2a0f74f6d0f0714" + String(repeating: "0", count: 580) + "fc18fbe2b2f6e0930400"
    )

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    private func head(_ headers: HTTPHeaders = [:], version: HTTPVersion = .http1_1) -> HTTPResponseHead {
        HTTPResponseHead(version: version, status: .ok, headers: headers)
    }

    /// Returns the body that results from these pieces, or the error.
    private func collect(_ headers: HTTPHeaders, _ pieces: [[UInt8]], maximum: Int = 10_000) -> Result<String, ConnectivityError> {
        var collector = HTTPResponseCollector(maximumBodyBytes: maximum)
        do throws(ConnectivityError) {
            try collector.receivedHead(self.head(headers))
            for piece in pieces { try collector.receivedBody(ByteBuffer(bytes: piece)) }
            return .success(String(buffer: try collector.ended()?.body ?? ByteBuffer()))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<String, ConnectivityError>) -> ConnectivityError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func bodiesAreJoinedFromAnyPieces() throws {
        #expect(try self.collect([:], []).get() == "")
        #expect(try self.collect([:], [Array("ab".utf8), [], Array("c".utf8)]).get() == "abc")
        #expect(try self.collect([:], [[UInt8](repeating: 65, count: 10_000)]).get().count == 10_000)
        #expect(self.code(self.collect([:], [[UInt8](repeating: 65, count: 10_001)])) == .responseTooLarge)
        #expect(self.code(self.collect([:], [[65], [UInt8](repeating: 65, count: 10_000)])) == .responseTooLarge)
    }

    @Test func aBodyThatIsPassedOnHasNoMaximum() throws {
        let received = NIOLockedValueBox<[UInt8]>([])
        func collector() -> HTTPResponseCollector {
            HTTPResponseCollector(maximumBodyBytes: 3, receiveBody: { piece in received.withLockedValue { $0 += Array(buffer: piece) } })
        }
        var whole = collector()
        try whole.receivedHead(self.head(["Content-Length": "8"]))
        for piece in ["abcd", "efgh"] { try whole.receivedBody(ByteBuffer(string: piece)) }
        #expect(try whole.ended()?.body.readableBytes == 0)
        #expect(received.withLockedValue { $0 } == Array("abcdefgh".utf8))
        // The body of an error response is collected, up to the maximum.
        var refused = collector()
        try refused.receivedHead(HTTPResponseHead(version: .http1_1, status: .forbidden))
        try refused.receivedBody(ByteBuffer(string: "no"))
        #expect(try refused.ended().map { String(buffer: $0.body) } == "no")
        #expect(throws: ConnectivityError.self) { try refused.receivedBody(ByteBuffer(string: "more")) }
        var failing = HTTPResponseCollector(maximumBodyBytes: 3, receiveBody: { _ in throw CancellationError() })
        try failing.receivedHead(self.head())
        #expect(throws: ConnectivityError.self) { try failing.receivedBody(ByteBuffer(string: "a")) }
    }

    @Test func anAnnouncedLengthIsCheckedBeforeTheBody() {
        #expect(self.code(self.collect(["Content-Length": "10001"], [])) == .responseTooLarge)
        #expect(self.code(self.collect(["Content-Length": "10000"], [])) == nil)
    }

    @Test func compressedBodiesAreInflated() throws {
        for (coding, bytes) in [
            ("gzip", Self.gzip), ("x-gzip", Self.gzip), ("GZIP", Self.gzip), ("deflate", Self.deflate), ("deflate", Self.bareDeflate),
        ] {
            #expect(try self.collect(["Content-Encoding": coding], [bytes]).get() == Self.text)
            #expect(try self.collect(["Content-Encoding": coding], bytes.map { [$0] }).get() == Self.text)
        }
        #expect(try self.collect(["Content-Encoding": "identity"], [Array("x".utf8)]).get() == "x")
        #expect(try self.collect(["Content-Encoding": "gzip"], []).get() == "")
    }

    @Test func aBombIsCountedAsItComes() throws {
        #expect(self.code(self.collect(["Content-Encoding": "gzip"], [Self.bomb], maximum: 299_999)) == .responseTooLarge)
        #expect(try self.collect(["Content-Encoding": "gzip"], [Self.bomb], maximum: 300_000).get().utf8.count == 300_000)
        #expect(self.code(self.collect(["Content-Encoding": "gzip"], [Self.bomb], maximum: 0)) == .responseTooLarge)
    }

    @Test func malformedCompressedBodiesFail() {
        #expect(self.code(self.collect(["Content-Encoding": "gzip"], [Array("hello".utf8)])) == .httpProtocol)
        #expect(self.code(self.collect(["Content-Encoding": "gzip"], [Array(Self.gzip.dropLast())])) == .httpProtocol)
        #expect(self.code(self.collect(["Content-Encoding": "gzip"], [Self.gzip + [0]])) == .httpProtocol)
        #expect(self.code(self.collect(["Content-Encoding": "gzip"], [Self.gzip, Self.gzip])) == .httpProtocol)
        #expect(self.code(self.collect(["Content-Encoding": "br"], [])) == .httpProtocol)
        #expect(self.code(self.collect(["Content-Encoding": "gzip, gzip"], [])) == .httpProtocol)
    }

    @Test func theServersTimeForIdleConnectionsIsRead() throws {
        for (value, seconds) in [
            ("timeout=5", 5), ("max=100, timeout=7", 7), ("timeout=x", nil), ("max=3", nil), ("timeout=-1", nil), ("timeout=+1", nil),
        ] {
            var collector = HTTPResponseCollector(maximumBodyBytes: 10)
            try collector.receivedHead(self.head(["Keep-Alive": value]))
            #expect(collector.keepAliveTimeout == seconds.map { .seconds($0) })
        }
    }

    @Test func anUnsolicitedUpgradeFails() {
        var collector = HTTPResponseCollector(maximumBodyBytes: 10)
        #expect(throws: ConnectivityError.self) {
            try collector.receivedHead(HTTPResponseHead(version: .http1_1, status: .switchingProtocols))
        }
    }

    @Test(
        arguments: [
            ("/a b", [:]), ("", [:]), ("a", [:]), ("/ä", [:]), ("/a\r\nX: y", [:]), ("/", ["a b": "c"]), ("/", ["": "c"]),
            ("/", ["a": "b\r\nc: d"]), ("/", ["a": "b\u{0}"]), ("/", ["Content-Length": "1"]), ("/", ["transfer-encoding": "chunked"]),
        ] as [(String, [String: String])])
    func bytesThatCouldFormAnotherRequestAreRefused(target: String, headers: [String: String]) {
        let request = HTTPExchangeRequest(.GET, target, headers: HTTPHeaders(headers.map { ($0.key, $0.value) }))
        let error = #expect(throws: ConnectivityError.self) { try request.head(for: HTTPOrigin(isSecure: false, host: "a")) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func originsAreParsed() throws {
        let origin = try HTTPOrigin(isSecure: true, authority: "[::1]:8443")
        #expect(origin.host == "::1")
        #expect(origin.port == 8443)
        #expect(origin.authority == "[::1]:8443")
        #expect(try HTTPOrigin(isSecure: true, authority: "example.com:443").authority == "example.com")
        #expect(try HTTPOrigin(isSecure: false, authority: "example.com").port == 80)
        for authority in ["", ":80", "a:0", "a:65536", "a:x", "a:+80", "u@a", "a b", "[::1"] {
            #expect(throws: ConnectivityError.self) { try HTTPOrigin(isSecure: false, authority: authority) }
        }
    }
}
