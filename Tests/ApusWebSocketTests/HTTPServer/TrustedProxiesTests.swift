import ApusConnectivity
import HTTPTypes
import NIOCore
import Testing

@testable import ApusWebSocket

@Suite("Trusted proxies")
struct TrustedProxiesTests {
    private static func request(_ fields: [(String, String)]) -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { continue }
            request.headerFields.append(HTTPField(name: name, value: value))
        }
        return request
    }

    private static func peer(_ address: String = "10.0.0.1") throws -> SocketAddress { try SocketAddress(ipAddress: address, port: 4_711) }

    @Test(arguments: [
        ([], "10.0.0.1"),
        (["203.0.113.5"], "203.0.113.5"),
        // The client wrote the first entry itself.
        (["198.51.100.9, 203.0.113.5"], "203.0.113.5"),
        (["198.51.100.9", "203.0.113.5"], "203.0.113.5"),
        // Two trusted proxies.
        (["203.0.113.5, 10.0.0.2"], "203.0.113.5"),
        (["203.0.113.5,10.0.0.2 ,\t10.0.0.3"], "203.0.113.5"),
        (["2001:db8::5, 10.0.0.2"], "2001:db8::5"),
        // An entry without an address: the proxy that appended it counts.
        (["203.0.113.5, unknown"], "10.0.0.1"), (["203.0.113.5, unknown, 10.0.0.2"], "10.0.0.2"), (["203.0.113.5,"], "10.0.0.1"),
        ([""], "10.0.0.1"),
        // Trusted proxies only.
        (["10.0.0.9, 10.0.0.2"], "10.0.0.9"),
    ])
    func theLastUntrustedEntryIsTheClient(values: [String], client: String) throws {
        let proxies = try TrustedProxies(networks: ["10.0.0.0/8"])
        let request = Self.request(values.map { ("X-Forwarded-For", $0) })
        #expect(try proxies.clientAddress(of: request, from: Self.peer()) == client)
    }

    @Test(arguments: [
        (["for=203.0.113.5"], "203.0.113.5"), (["For=\"[2001:db8::5]:4711\";proto=https"], "2001:db8::5"),
        (["by=203.0.113.60;for=203.0.113.5;host=\"a,b;c\""], "203.0.113.5"), (["for=198.51.100.9, for=203.0.113.5"], "203.0.113.5"),
        (["for=203.0.113.5", "for=10.0.0.2"], "203.0.113.5"), (["for=_hidden"], "10.0.0.1"), (["proto=https"], "10.0.0.1"),
        (["for=\"203.0.113.5"], "10.0.0.1"), (["for=203.0.113.5=1"], "10.0.0.1"),
        // A client cannot hide the entry that the proxy appends.
        ([#"for=198.51.100.9;x="a\"b", for=203.0.113.5"#], "203.0.113.5"), ([#"for=198.51.100.9;x="a\\", for=203.0.113.5"#], "203.0.113.5"),
        ([#"for=198.51.100.9;x=", for=203.0.113.5"#], "10.0.0.1"), ([#"for=198.51.100.9;x=", for="[2001:db8::5]";host="h""#], "10.0.0.1"),
        ([#"for=198.51.100.9;x="a"#, "for=203.0.113.5"], "203.0.113.5"), ([#"for=203.0.113.5;x=\a"#], "203.0.113.5"),
    ])
    func forwardedIsReadByItsGrammar(values: [String], client: String) throws {
        let proxies = try TrustedProxies(networks: ["10.0.0.0/8"], field: .forwarded)
        // The other field is the client's own.
        let request = Self.request(values.map { ("Forwarded", $0) } + [("X-Forwarded-For", "198.51.100.77")])
        #expect(try proxies.clientAddress(of: request, from: Self.peer()) == client)
    }

    @Test func headersOfUntrustedPeersAreIgnored() throws {
        let request = Self.request([("X-Forwarded-For", "198.51.100.9")])
        #expect(try TrustedProxies(networks: ["10.0.0.0/8"]).clientAddress(of: request, from: Self.peer("192.0.2.1")) == "192.0.2.1")
        #expect(try TrustedProxies.none.clientAddress(of: request, from: Self.peer()) == "10.0.0.1")
        #expect(TrustedProxies.none.clientAddress(of: request, from: nil) == nil)
    }

    @Test func longListsAreReadFromTheEndOnly() throws {
        let proxies = try TrustedProxies(networks: ["10.0.0.0/8"])
        let request = Self.request([("X-Forwarded-For", "203.0.113.5" + String(repeating: ", 10.0.0.2", count: 5_000))])
        #expect(try proxies.clientAddress(of: request, from: Self.peer()) == "10.0.0.2")
    }

    @Test func textThatIsNotANetworkIsRefused() {
        #expect(throws: ConnectivityError.self) { try TrustedProxies(networks: ["10.0.0.0/8", "proxy.example"]) }
    }
}
