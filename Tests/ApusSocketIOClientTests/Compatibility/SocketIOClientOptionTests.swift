import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOClient
import Foundation
import Logging
import Testing

@testable import ApusSocketIOClientCompatibility
import HTTPTypes

@Suite struct SocketIOClientOptionTests {
    @Test func theDefaultsMatchTheOtherLibrary() {
        let options = SocketIOClientOptions([])
        #expect(options.configuration.reconnection == .exponential(from: .seconds(10), to: .seconds(30), jitter: 0.5))
        #expect(options.configuration.engine.transports == [.polling, .webSocket])
        #expect(options.configuration.engine.version == .automatic)
        #expect(options.url("http://example.com") == "http://example.com")
    }

    @Test func optionsBecomeSettings() {
        let options = SocketIOClientOptions([
            .connectParams(["a": "b"]), .extraHeaders(["Cookie": "y", "not a name": "z"]), .forceWebsockets(true), .log(true),
            .path("/custom/"),
            .randomizationFactor(0), .reconnectAttempts(3), .reconnectWait(2), .reconnectWaitMax(9), .secure(true), .selfSigned(true),
            .version(.two),
        ])
        let engine = options.configuration.engine
        #expect(engine.query == ["a": "b"] && engine.headers == [.cookie: "y"] && engine.path == "/custom/")
        #expect(engine.transports == [.webSocket] && engine.version == .v3)
        #expect(options.configuration.reconnection == .exponential(from: .seconds(2), to: .seconds(9), jitter: 0, maximumAttempts: 3))
        #expect(options.logger.logLevel == .debug)
        #expect(options.url("http://example.com") == "https://example.com" && options.url("ws://a") == "wss://a")
        #expect(options.url("https://example.com") == "https://example.com")
    }

    @Test(arguments: [(-1, -1, Double.nan), (Int.max, Int.min, 7)] as [(Int, Int, Double)])
    func invalidNumbersAreBounded(wait: Int, maximum: Int, factor: Double) {
        let options = SocketIOClientOptions([.reconnectWait(wait), .reconnectWaitMax(maximum), .randomizationFactor(factor)])
        #expect(options.configuration.reconnection.maximumAttempts == nil)
        #expect(SocketIOClientOptions([.reconnects(false)]).configuration.reconnection == .none)
    }

    @Test func aManagerIsMadeFromAURL() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let socket = SocketManager(socketURL: url, config: [.reconnects(false)]).socket(forNamespace: "/swift")
        #expect(socket.nsp == "/swift" && socket.sid == nil)
        #expect(socket.status == .disconnected && socket.status == .notConnected)
    }

    @Test func statesHaveTheNamesOfTheOtherLibrary() {
        let states: [SocketIOClientState] = [.disconnected, .connecting, .connected, .reconnecting]
        #expect(states.map(SocketIOStatus.init) == [.disconnected, .connecting, .connected, .connecting])
    }
}
