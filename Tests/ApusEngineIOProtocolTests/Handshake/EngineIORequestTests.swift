import ApusEngineIOProtocol
import Testing

@Suite struct EngineIORequestTests {
    private func request(_ method: String, _ query: String, upgrade: Bool = false, allowsV3: Bool = false) -> Result<
        EngineIORequest, EngineIOError
    > {
        do throws(EngineIOError) {
            return .success(
                try EngineIORequest(
                    method: method, query: QueryString(query), opensWebSocket: upgrade, transports: [.polling, .webSocket],
                    allowsV3: allowsV3))
        } catch { return .failure(error) }
    }

    @Test(arguments: [
        ("GET", "EIO=4&transport=polling", false, EngineIORequest.handshake(.polling, .v4)),
        ("GET", "EIO=4&transport=websocket", true, .handshake(.webSocket, .v4)),
        ("GET", "EIO=4&transport=polling&sid=x&t=1", false, .poll(sid: "x")),
        ("POST", "transport=polling&EIO=4&sid=x", false, .post(sid: "x")),
        ("GET", "EIO=4&transport=websocket&sid=x", true, .upgrade(sid: "x")),
        ("OPTIONS", "", false, .preflight),
    ])
    func requestIsUnderstood(method: String, query: String, upgrade: Bool, expected: EngineIORequest) {
        #expect(self.request(method, query, upgrade: upgrade) == .success(expected))
    }

    @Test(arguments: [
        ("GET", "EIO=4", false, 0),
        ("GET", "EIO=4&transport=abc", false, 0),
        ("GET", "EIO=4&transport=constructor", false, 0),
        ("POST", "EIO=4&transport=polling", false, 2),
        ("PUT", "EIO=4&transport=polling", false, 2),
        ("GET", "EIO=4&transport=websocket", false, 3),
        ("GET", "EIO=4&transport=polling", true, 3),
        ("DELETE", "EIO=4&transport=polling&sid=x", false, 3),
        ("GET", "transport=polling", false, 5),
        ("GET", "EIO=abc&transport=polling", false, 5),
        ("GET", "EIO=3&transport=polling", false, 5),
        ("GET", "EIO=3&transport=websocket", true, 5),
    ])
    func refusalHasItsNumber(method: String, query: String, upgrade: Bool, number: Int) throws {
        let result = self.request(method, query, upgrade: upgrade)
        guard case .failure(let error) = result else {
            Issue.record("\(query) was accepted: \(result)")
            return
        }
        let refusal = try #require(error.httpRefusal)
        #expect(refusal.number == number)
        #expect(refusal.status == 400)
    }

    @Test func version3IsAcceptedWhereItIsAllowed() {
        #expect(self.request("GET", "EIO=3&transport=polling", allowsV3: true) == .success(.handshake(.polling, .v3)))
        #expect(self.request("GET", "EIO=4&transport=polling", allowsV3: true) == .success(.handshake(.polling, .v4)))
    }

    @Test(arguments: ["transport=polling", "EIO=abc&transport=polling", "EIO=5&transport=polling", "EIO=03&transport=polling"])
    func otherVersionsAreRefusedWithEngineIO3(query: String) {
        let refused = EngineIOError(.unsupportedVersion, message: "Unsupported protocol version")
        #expect(self.request("GET", query, allowsV3: true) == .failure(refused))
    }

    @Test func queryIsDecoded() {
        let query = QueryString("a=1&b=%E5%9C%A8+x&c=&d&=e&a=2&bad=%zz&half=%4&utf=%ff")
        #expect(query.fields == ["a": "1", "b": "在 x", "c": "", "d": ""])
    }
}
