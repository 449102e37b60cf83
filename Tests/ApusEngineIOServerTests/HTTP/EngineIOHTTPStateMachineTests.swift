import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import ApusEngineIOServer

@Suite struct EngineIOHTTPStateMachineTests {
    private func head(_ path: String) -> HTTPServerRequestPart {
        .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: ["Host": "a"]))
    }

    private func next(_ machine: inout EngineIOHTTPStateMachine) -> EngineIOHTTPStateMachine.Action? {
        machine.nextAction { $0.uri == "/ours" }
    }

    private func begin(_ machine: inout EngineIOHTTPStateMachine) {
        #expect(machine.receivedPart(self.head("/ours")) == true)
        guard case .begin = self.next(&machine) else {
            Issue.record("the request did not begin")
            return
        }
    }

    @Test func aRequestIsAnsweredBeforeTheNextBegins() {
        var machine = EngineIOHTTPStateMachine()
        self.begin(&machine)
        let body = HTTPServerRequestPart.body(ByteBuffer(string: "x"))
        #expect(machine.receivedPart(body) == true)
        #expect(self.next(&machine) == .body(body))
        #expect(machine.receivedPart(.end(nil)) == true)
        #expect(self.next(&machine) == .dispatch)
        #expect(machine.receivedPart(self.head("/ours")) == true)
        #expect(self.next(&machine) == nil)
        #expect(machine.answered(keepAlive: true) == true)
        guard case .begin = self.next(&machine) else {
            Issue.record("the second request did not begin")
            return
        }
    }

    @Test func aRequestWaitsForForwardedResponses() {
        var machine = EngineIOHTTPStateMachine()
        #expect(machine.receivedPart(self.head("/theirs")) == true)
        #expect(self.next(&machine) == .forwardHead(self.head("/theirs")))
        #expect(machine.receivedPart(.end(nil)) == true)
        #expect(self.next(&machine) == .forwardEnd(.end(nil)))
        #expect(machine.receivedPart(self.head("/ours")) == true)
        #expect(self.next(&machine) == nil)
        #expect(machine.forwardedAnswered() == true)
        guard case .begin = self.next(&machine) else {
            Issue.record("the request did not begin")
            return
        }
    }

    @Test func theBodyAfterAnEarlyRefusalIsDiscarded() {
        var machine = EngineIOHTTPStateMachine()
        self.begin(&machine)
        machine.refusedEarly()
        #expect(machine.receivedPart(.body(ByteBuffer(string: "x"))) == true)
        #expect(self.next(&machine) == nil)
        #expect(machine.answered(keepAlive: false) == true)
        #expect(self.next(&machine) == .discard)
        #expect(machine.receivedPart(.end(nil)) == true)
        #expect(self.next(&machine) == .discard)
    }

    @Test func aLateAnswerIsDropped() {
        var machine = EngineIOHTTPStateMachine()
        #expect(machine.answered(keepAlive: true) == false)
        self.begin(&machine)
        #expect(machine.answered(keepAlive: true) == false)
        machine.finish()
        #expect(machine.answered(keepAlive: true) == false)
    }

    @Test func pipeliningHasABound() {
        var machine = EngineIOHTTPStateMachine()
        self.begin(&machine)
        #expect(machine.receivedPart(.end(nil)) == true)
        #expect(self.next(&machine) == .dispatch)
        for _ in 0..<32 {
            #expect(machine.receivedPart(self.head("/ours")) == true)
            #expect(machine.receivedPart(.end(nil)) == true)
        }
        #expect(machine.receivedPart(self.head("/ours")) == false)
    }
}
