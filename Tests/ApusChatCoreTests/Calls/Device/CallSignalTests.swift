import ApusChatCore
import ApusJSON
import Testing

@Suite struct CallSignalTests {
    @Test(
        arguments: [
            .join(), .join(isReply: true), .join(isRepeated: true), .leave(), .leave(isMoved: true), .full, .answered,
            .state(microphone: false, camera: true, screen: true), .offer(sdp: "v=0"), .answer(sdp: "v=0"),
            .candidate(text: "candidate:1", mid: "0", index: 0, fragment: "x"), .candidate(text: "", mid: nil, index: 1, fragment: nil),
        ] as [CallSignal.Content])
    func aSignalIsReadAsItWasWritten(content: CallSignal.Content) {
        for recipient in ["", "b2"] {
            let signal = CallSignal(content, session: "a1", recipient: recipient)
            #expect(CallSignal(signal.data) == signal)
        }
    }

    @Test(
        arguments: [
            [:], ["type": 1], ["type": "constructor"], ["type": ["join"]], ["type": "offer"], ["type": "offer", "sdp": ""],
            ["type": "offer", "sdp": .string(String(repeating: "x", count: 100_001))], ["type": "answer", "sdp": ["toString": 1]],
            ["type": "candidate"], ["type": "candidate", "candidate": ["candidate": "x"]],
            ["type": "candidate", "candidate": ["candidate": 1, "sdpMid": "0"]],
            ["type": "candidate", "candidate": ["candidate": .string(String(repeating: "x", count: 1_001)), "sdpMid": "0"]],
            ["type": "candidate", "candidate": ["candidate": "x", "sdpMLineIndex": -1]], ["type": "pranswer", "sdp": "v=0"],
        ] as [JSONObject])
    func dataThatCannotBeUsedIsRefused(data: JSONObject) { #expect(CallSignal(data) == nil) }

    @Test func fieldsAreBounded() {
        let name = String(repeating: "a", count: 65)
        let signal = CallSignal(["type": "join", "session": .string(name), "to": "<b>", "reply": 1])
        #expect(signal == CallSignal(.join(), session: ""))
        let state = CallSignal(["type": "state", "camera": "yes", "microphone": 0])
        #expect(state?.content == .state(microphone: true, camera: false, screen: false))
        let long = CallSignal(["type": "offer", "sdp": .string(String(repeating: "x", count: 100_000))])
        #expect(long != nil)
    }
}
