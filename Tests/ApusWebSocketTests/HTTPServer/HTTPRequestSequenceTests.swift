import NIOCore
import NIOHTTP1
import Testing

@testable import ApusWebSocket

@Suite struct HTTPRequestSequenceTests {
    private typealias Sequence = HTTPRequestSequence

    private func head(
        _ uri: String = "/", _ method: HTTPMethod = .GET, _ version: HTTPVersion = .http1_1, _ headers: HTTPHeaders = ["Host": "a"]
    ) -> HTTPRequestHead {
        HTTPRequestHead(version: version, method: method, uri: uri, headers: headers)
    }

    private func request(_ head: HTTPRequestHead) -> [Sequence.Event] { [.part(.head(head)), .part(.end(nil))] }

    private func word(_ action: Sequence.Action) -> String {
        switch action {
        case .pass(.head(let head)): head.uri
        case .pass(.body): "body"
        case .pass(.end): "end"
        case .refuse(let refusal, _): "\(refusal.status.code)"
        case .close: "close"
        case .inputClosed(let isIdle): isIdle ? "closed" : "left"
        }
    }

    /// Returns the actions for the waiting events, as texts.
    private func actions(_ sequence: inout Sequence) -> [String] {
        var words: [String] = []
        while let action = sequence.next() { words.append(self.word(action)) }
        return words
    }

    private func actions(_ sequence: inout Sequence, after events: [Sequence.Event]) -> [String] {
        var words: [String] = []
        for event in events {
            switch sequence.receivedEvent(event) {
            case .act(let action): words.append(self.word(action))
            case .doNothing: break
            case .tooMany: words.append("too many")
            }
        }
        return words + self.actions(&sequence)
    }

    private func answer(_ headers: HTTPHeaders = ["Content-Length": "0"], _ status: HTTPResponseStatus = .ok) -> HTTPResponseHead {
        HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    @Test func oneRequestAtATime() {
        var sequence = Sequence(allowsHTTP10: true)
        #expect(self.actions(&sequence, after: self.request(self.head("/1")) + self.request(self.head("/2"))) == ["/1", "end"])
        #expect(sequence.pausesReading)
        #expect(sequence.answered(self.answer()) == self.answer())
        #expect(self.actions(&sequence) == [])
        #expect(sequence.answerEnded() == .write)
        #expect(self.actions(&sequence) == ["/2", "end"])
        _ = sequence.answered(self.answer())
        #expect(sequence.answerEnded() == .write)
        #expect(!sequence.pausesReading)
    }

    @Test func anAnswerBeforeTheEndOfItsRequest() {
        var sequence = Sequence(allowsHTTP10: true)
        #expect(self.actions(&sequence, after: [.part(.head(self.head("/1", .POST)))]) == ["/1"])
        _ = sequence.answered(self.answer())
        #expect(sequence.answerEnded() == .write)
        #expect(!sequence.pausesReading)
        #expect(self.actions(&sequence, after: [.part(.body(ByteBuffer())), .part(.end(nil))]) == ["body", "end"])
        #expect(self.actions(&sequence, after: self.request(self.head("/2"))) == ["/2", "end"])
    }

    @Test(
        arguments: [
            (HTTPVersion.http1_1, [], 400), (.http1_1, ["a", "b"], 400), (.http1_1, ["a", "a"], 400), (.http1_1, ["a b"], 400),
            (.http1_1, ["a/b"], 400), (.http1_1, ["a@b"], 400), (.http1_1, ["é"], 400), (.http1_1, ["a", ""], 400),
            (.http1_1, ["a"], nil), (.http1_1, [""], nil), (.http1_1, ["[::1]:80"], nil),
            (.http1_0, [], nil), (.http1_0, ["a"], nil), (.http1_0, ["a", "b"], 400),
        ] as [(HTTPVersion, [String], Int?)])
    func hostIsThereOnce(version: HTTPVersion, hosts: [String], status: Int?) {
        var sequence = Sequence(allowsHTTP10: true)
        let headers = HTTPHeaders(hosts.map { ("hOsT", $0) })
        let actions = self.actions(&sequence, after: self.request(self.head("/", .GET, version, headers)))
        #expect(actions == (status.map { ["\($0)"] } ?? ["/", "end"]))
        #expect(sequence.isFinished == (status != nil))
    }

    @Test func http10IsRefusedWhereItIsNotSupported() {
        var sequence = Sequence(allowsHTTP10: false)
        #expect(self.actions(&sequence, after: self.request(self.head("/", .GET, .http1_0))) == ["505"])
    }

    @Test(
        arguments: [
            (HTTPVersion.http1_1, nil, true), (.http1_1, "close", false), (.http1_1, "Close", false), (.http1_1, "x, CLOSE", false),
            (.http1_0, nil, false), (.http1_0, "keep-alive", true), (.http1_0, "Keep-Alive", true), (.http1_0, "\u{212A}eep-alive", false),
        ] as [(HTTPVersion, String?, Bool)])
    func theConnectionStaysAsLongAsTheRequestSays(version: HTTPVersion, connection: String?, stays: Bool) {
        var sequence = Sequence(allowsHTTP10: true)
        var headers: HTTPHeaders = ["Host": "a"]
        if let connection { headers.add(name: "Connection", value: connection) }
        let second = self.request(self.head("/2"))
        #expect(self.actions(&sequence, after: self.request(self.head("/", .GET, version, headers)) + second) == ["/", "end"])
        let head = sequence.answered(self.answer())
        let isHTTP10 = version == .http1_0
        #expect(head?.headers["Connection"] == (stays ? isHTTP10 ? ["keep-alive"] : [] : ["close"]))
        #expect(head?.version == .http1_1)
        #expect(sequence.answerEnded() == (stays ? .write : .writeAndClose))
        #expect(self.actions(&sequence) == (stays ? ["/2", "end"] : []))
    }

    @Test func aClientOfHTTP10GetsNoChunks() {
        var sequence = Sequence(allowsHTTP10: true)
        let head = self.head("/", .GET, .http1_0, ["Connection": "keep-alive"])
        #expect(self.actions(&sequence, after: self.request(head)) == ["/", "end"])
        let answer = sequence.answered(self.answer(["Transfer-Encoding": "chunked"]))
        #expect(answer?.version == .http1_0)
        #expect(answer?.headers == ["Connection": "close"])
        #expect(sequence.answerEnded() == .writeAndClose)
    }

    @Test func anAnswerMayEndTheConnection() {
        var sequence = Sequence(allowsHTTP10: true)
        #expect(self.actions(&sequence, after: self.request(self.head())) == ["/", "end"])
        #expect(sequence.answered(self.answer(["Connection": "close"])) != nil)
        #expect(sequence.answerEnded() == .writeAndClose)
        #expect(sequence.isFinished)
        #expect(sequence.answered(self.answer()) == nil)
        #expect(sequence.answeredBody() == .drop)
        #expect(sequence.answerEnded() == .drop)
    }

    /// NIO's decoder stops after a request that asks for another protocol.
    @Test func anUpgradeThatIsRefusedEndsTheConnection() {
        let headers: HTTPHeaders = ["Host": "a", "Connection": "Upgrade", "Upgrade": "h2c"]
        var refused = Sequence(allowsHTTP10: true)
        #expect(self.actions(&refused, after: self.request(self.head("/", .GET, .http1_1, headers))) == ["/", "end"])
        #expect(refused.answered(self.answer())?.headers["Connection"] == ["close"])
        #expect(refused.answerEnded() == .writeAndClose)

        // A proxy may add either field to every request.
        for headers: HTTPHeaders in [["Host": "a", "Connection": "upgrade"], ["Host": "a", "Upgrade": "websocket"]] {
            var plain = Sequence(allowsHTTP10: true)
            #expect(self.actions(&plain, after: self.request(self.head("/", .GET, .http1_1, headers))) == ["/", "end"])
            #expect(plain.answered(self.answer()) == self.answer())
            #expect(plain.answerEnded() == .write)
        }

        var upgraded = Sequence(allowsHTTP10: true)
        #expect(self.actions(&upgraded, after: self.request(self.head("/", .GET, .http1_1, headers))) == ["/", "end"])
        let answer = self.answer(["Connection": "Upgrade"], .switchingProtocols)
        #expect(upgraded.answered(answer) == answer)
        #expect(upgraded.answerEnded() == .write)
        #expect(!upgraded.pausesReading)
    }

    @Test func anUpgradeOfHTTP10IsNil() {
        var sequence = Sequence(allowsHTTP10: true)
        let head = self.head("/", .GET, .http1_0, ["Connection": "Upgrade, keep-alive", "Upgrade": "websocket"])
        guard case .act(.pass(.head(let passed))) = sequence.receivedEvent(.part(.head(head))) else {
            Issue.record("the request was not passed on")
            return
        }
        #expect(!passed.headers.contains(name: "Upgrade"))
    }

    @Test func anInterimAnswerIsNotTheAnswer() {
        var sequence = Sequence(allowsHTTP10: true)
        #expect(self.actions(&sequence, after: self.request(self.head("/1")) + self.request(self.head("/2"))) == ["/1", "end"])
        let interim = self.answer([:], .continue)
        #expect(sequence.answered(interim) == interim)
        #expect(self.actions(&sequence) == [])
    }

    @Test(arguments: [(HTTPParserError.headerOverflow, 431), (.invalidEOFState, 400), (.invalidChunkSize, 400), (.invalidMethod, 400)])
    func malformedRequestsAreRefused(error: HTTPParserError, status: Int) {
        var idle = Sequence(allowsHTTP10: true)
        #expect(self.actions(&idle, after: [.failure(error), .failure(error), .inputClosed]) == ["\(status)"])
        var reading = Sequence(allowsHTTP10: true)
        #expect(self.actions(&reading, after: [.part(.head(self.head("/1", .POST))), .failure(error)]) == ["/1", "\(status)"])
        var answering = Sequence(allowsHTTP10: true)
        #expect(self.actions(&answering, after: [.part(.head(self.head("/1", .POST)))]) == ["/1"])
        _ = answering.answered(self.answer())
        #expect(self.actions(&answering, after: [.failure(error)]) == ["close"])
    }

    @Test func anErrorBehindARequestWaitsForItsAnswer() {
        var sequence = Sequence(allowsHTTP10: true)
        #expect(self.actions(&sequence, after: self.request(self.head("/1")) + [.failure(.invalidMethod), .inputClosed]) == ["/1", "end"])
        _ = sequence.answered(self.answer())
        #expect(sequence.answerEnded() == .write)
        #expect(self.actions(&sequence) == ["400"])
    }

    @Test func theEndOfTheInputKeepsItsPlace() {
        var waiting = Sequence(allowsHTTP10: true)
        let two = self.request(self.head("/1")) + self.request(self.head("/2"))
        #expect(self.actions(&waiting, after: two + [.inputClosed]) == ["/1", "end"])
        _ = waiting.answered(self.answer())
        _ = waiting.answerEnded()
        // The responder to the last request is notified that its client has left.
        #expect(self.actions(&waiting) == ["/2", "end", "left"])
        var idle = Sequence(allowsHTTP10: true)
        #expect(self.actions(&idle, after: [.inputClosed]) == ["closed"])
    }

    @Test func pendingEventsAreBounded() {
        var sequence = Sequence(allowsHTTP10: true)
        #expect(self.actions(&sequence, after: self.request(self.head())) == ["/", "end"])
        let most = Array(repeating: Sequence.Event.part(.end(nil)), count: HTTPRequestSequence.maximumPendingEvents)
        #expect(self.actions(&sequence, after: most) == [])
        #expect(self.actions(&sequence, after: [.part(.end(nil))]) == ["too many"])
    }
}
