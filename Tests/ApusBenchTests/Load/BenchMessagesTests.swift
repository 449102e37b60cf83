import NIOCore
import Testing

@testable import ApusBench

struct BenchMessagesTests {
    private static func messages(_ exchange: BenchPlan.Exchange, binary: Bool = false, namespace: String = "/") -> BenchMessages {
        var plan = BenchPlan(url: "", exchange: exchange)
        plan.binary = binary
        plan.size = 3
        plan.namespace = namespace
        return BenchMessages(plan: plan)
    }

    private static func meaning(_ text: String, in messages: BenchMessages) -> BenchMessages.Meaning {
        Array(text.utf8).withUnsafeBytes { messages.meaning(ofText: $0) }
    }

    @Test func packetsMatchTheProtocol() {
        #expect(Self.messages(.webSocket).packets(place: 0).text == "xxx")
        #expect(Self.messages(.event("echo")).packets(place: 0).text == #"42["echo","xxx"]"#)
        #expect(Self.messages(.acknowledged("ack")).packets(place: 12).text == #"4212["ack","xxx"]"#)
        #expect(Self.messages(.acknowledged("ack"), namespace: "/chat").packets(place: 12).text == #"42/chat,12["ack","xxx"]"#)
        let binary = Self.messages(.event("echo"), binary: true).packets(place: 0)
        #expect(binary.text == #"451-["echo",{"_placeholder":true,"num":0}]"#)
        #expect(binary.attachment == Array("xxx".utf8))
        #expect(Self.messages(.event("echo"), namespace: "/chat").join == "40/chat,")
    }

    @Test func roomsAndNamespacesAreSharedOut() {
        var plan = BenchPlan(url: "", exchange: .room(of: 5))
        plan.connections = 2
        plan.size = 1
        #expect(BenchMessages(plan: plan, index: 1).roomJoins == [#"42["join","bench-1"]"#, #"42["join","bench-3"]"#])
        #expect(BenchMessages(plan: plan, index: 1).packets(place: 0).text == #"42["room","bench-1","x"]"#)
        // With fewer rooms than connections, each connection still has one.
        plan.exchange = .room(of: 1)
        #expect(BenchMessages(plan: plan, index: 1).roomJoins == [#"42["join","bench-1"]"#])
        plan.exchange = .event("echo")
        plan.namespaces = 2
        #expect(BenchMessages(plan: plan, index: 3).join == "40/bench-1,")
        #expect(Self.meaning(#"42/bench-1,["echo","x"]"#, in: BenchMessages(plan: plan, index: 3)) == .answer)
    }

    @Test func framesAreMaskedAndCanBeDecoded() {
        let frame = Self.messages(.event("echo")).frames(place: 0)
        #expect(frame.getInteger(at: 0, as: UInt8.self) == 0x81)
        #expect(frame.getInteger(at: 1, as: UInt8.self) == UInt8(0x90))
        #expect(frame.readableBytes == 6 + 16)
        let several = BenchFrames(Self.messages(.event("echo")), inFlight: 3)
        #expect(several.batchCount == 3)
        #expect(several.several(2).readableBytes == 2 * frame.readableBytes)
    }

    @Test func answersAreRecognized() {
        let echo = Self.messages(.event("echo"))
        #expect(Self.meaning(#"42["echo","xxx"]"#, in: echo) == .answer)
        #expect(Self.meaning(#"42["other","xxx"]"#, in: echo) == .nothing)
        #expect(Self.meaning(#"451-["echo",{"_placeholder":true,"num":0}]"#, in: echo) == .attachmentFollows(nil))
        #expect(Self.meaning("2", in: echo) == .ping)
        #expect(Self.meaning(#"0{"sid":"a"}"#, in: echo) == .open)
        #expect(Self.meaning(#"40{"sid":"b"}"#, in: echo) == .joined)
        #expect(Self.meaning(#"44{"message":"no"}"#, in: echo) == .refused)
        #expect(Self.meaning("", in: echo) == .nothing)
        let ack = Self.messages(.acknowledged("ack"))
        #expect(Self.meaning(#"4317["xxx"]"#, in: ack) == .answerTo(17))
        #expect(Self.meaning(#"43["xxx"]"#, in: ack) == .nothing)
        #expect(Self.meaning(#"461-3[{"_placeholder":true,"num":0}]"#, in: ack) == .attachmentFollows(3))
        let named = Self.messages(.acknowledged("ack"), namespace: "/chat")
        #expect(Self.meaning(#"43/chat,17["xxx"]"#, in: named) == .answerTo(17))
        #expect(Self.meaning(#"40/chat,{"sid":"b"}"#, in: named) == .joined)
        #expect(Self.meaning(#"40{"sid":"b"}"#, in: named) == .nothing)
        #expect(Self.meaning("anything", in: Self.messages(.webSocket)) == .answer)
    }
}

struct BenchHTTPScannerTests {
    @Test(arguments: [1, 5, 1000])
    func responsesAreSplit(piece: Int) throws {
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcHTTP/1.1 400 Bad Request\r\nX: y\r\nContent-Length:0\r\n\r\n"
        var scanner = BenchHTTPScanner()
        var found: [BenchHTTPScanner.Response] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            scanner.receivedBytes(ByteBuffer(bytes: rest.prefix(piece)))
            rest = rest.dropFirst(piece)
            while let response = try scanner.next() { found.append(response) }
        }
        #expect(found == [.init(status: 200, body: ByteBuffer(string: "abc")), .init(status: 400, body: ByteBuffer())])
    }

    @Test func unsupportedResponsesAreErrors() {
        var chunked = BenchHTTPScanner()
        chunked.receivedBytes(ByteBuffer(string: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
        #expect(throws: BenchError.self) { try chunked.next() }
    }
}
