import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct CallRoomWatchTests {
    private let call = EventAddress(ConversationKey(7), 3)

    private func change(_ state: CallState, hasRoom: Bool = true) -> [CallChange] {
        [CallChange(call: self.call, .state(state, joined: nil), isGroup: true, hasRoom: hasRoom)]
    }

    @Test func aRoomLivesAsLongAsItsCall() {
        var watch = CallRoomWatch()
        #expect(watch.committed(self.change(.ringing), deleted: []) == [.open(self.call)])
        #expect(watch.committed(self.change(.accepted), deleted: []) == [.startTimer(self.call)])
        #expect(watch.committed(self.change(.accepted), deleted: []) == [], "another device")
        #expect(watch.timerFired(self.call) == [.count(self.call)])
        #expect(watch.committed(self.change(.ended), deleted: []) == [.cancelTimer(self.call), .close(self.call)])
        #expect(watch.timerFired(self.call) == [] && watch.counted(self.call, 0) == [] && watch.count == 0)
    }

    @Test func anEmptyRoomEndsItsCall() {
        var watch = CallRoomWatch()
        _ = watch.committed(self.change(.accepted), deleted: [])  // after a restart of the server
        #expect(watch.counted(self.call, 0) == [.startTimer(self.call)], "the devices may be joining")
        #expect(watch.counted(self.call, nil) == [.startTimer(self.call)], "the media server does not answer")
        #expect(watch.counted(self.call, 2) == [.startTimer(self.call)])
        #expect(watch.counted(self.call, 0) == [.startTimer(self.call)])
        #expect(watch.counted(self.call, 0) == [.end(self.call), .startTimer(self.call)])
    }

    @Test func callsWithoutARoomAreIgnored() {
        var watch = CallRoomWatch()
        for state in [CallState.ringing, .accepted, .ended] {
            #expect(watch.committed(self.change(state, hasRoom: false), deleted: [self.call.conversation]) == [])
        }
        _ = watch.committed(self.change(.ringing), deleted: [])
        #expect(watch.committed([], deleted: [self.call.conversation]) == [.close(self.call)])
        #expect(watch.committed(self.change(.missed), deleted: []) == [.close(self.call)], "a call of an earlier process")
    }
}
