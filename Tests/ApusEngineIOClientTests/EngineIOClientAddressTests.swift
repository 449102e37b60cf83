import ApusConnectivity
import ApusEngineIOProtocol
import Testing

@testable import ApusEngineIOClient

@Suite struct EngineIOClientAddressTests {
    @Test func takesPathQueryAndSession() throws {
        var configuration = EngineIOClientConfiguration()
        configuration.path = "my.io/"
        configuration.query = ["b": "1 2&3", "a": "ä"]
        let address = try EngineIOClientAddress(
            "https://example.com:8443/ignored?token=x#f", attempt: configuration.attempt, version: configuration.version)
        #expect(address.origin.isSecure)
        #expect(address.origin.authority == "example.com:8443")
        #expect(
            address.polling(sid: nil) == "/my.io/?token=x&a=%C3%A4&b=1%202%263&EIO=4&transport=polling")
        #expect(
            address.webSocket(sid: "s&x=1")
                == "wss://example.com:8443/my.io/?token=x&a=%C3%A4&b=1%202%263&EIO=4&transport=websocket&sid=s%26x%3D1")
    }

    @Test(arguments: ["ws://[::1]:3000", "http://localhost"]) func takesHosts(url: String) throws {
        let address = try EngineIOClientAddress(url, attempt: EngineIOClientConfiguration().attempt, version: .automatic)
        let host = url.split(separator: "//", maxSplits: 1)[1]
        #expect(address.origin.authority == host)
        #expect(address.webSocket(sid: nil) == "ws://\(host)/socket.io/?EIO=4&transport=websocket")
    }

    @Test(arguments: ["", "example.com", "ftp://x", "http://", "http://u:p@host", "http://ho st", "http://host\r\nX: y", "http:///path"])
    func refuses(url: String) {
        #expect(throws: EngineIOError.self) {
            try EngineIOClientAddress(url, attempt: EngineIOClientConfiguration().attempt, version: .automatic)
        }
    }

    @Test func requestsVersionThreeIfConfigured() throws {
        var configuration = EngineIOClientConfiguration()
        configuration.version = .v3
        let address = try EngineIOClientAddress("http://host", attempt: configuration.attempt, version: configuration.version)
        #expect(address.polling(sid: nil) == "/socket.io/?EIO=3&transport=polling")
    }

    @Test func refusesAPathThatNeedsEncoding() {
        var configuration = EngineIOClientConfiguration()
        for path in ["/a b", "/a?b", "/a#b", "/ä", "/a\r\n"] {
            configuration.path = path
            #expect(throws: EngineIOError.self) {
                try EngineIOClientAddress("http://host", attempt: configuration.attempt, version: configuration.version)
            }
        }
    }
}
