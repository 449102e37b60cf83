import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct CallMachineTests {
    private let ann = CallMachine.Party(UserKey(1), DeviceKey(1))
    private let bob = CallMachine.Party(UserKey(2), DeviceKey(2))
    private let phone = CallMachine.Party(UserKey(2), DeviceKey(3))
    private let cid = CallMachine.Party(UserKey(3), DeviceKey(4))

    private func ringing(_ callees: [CallMachine.Party] = []) -> CallMachine {
        let callees = callees.isEmpty ? [self.bob] : callees
        var call = CallMachine(caller: self.ann, callees: callees.map(\.user))
        #expect(call.started() == [.ring(callees.map(\.user)), .scheduleRingTimer(after: .seconds(45))])
        return call
    }

    @Test func aCallIsAcceptedAndEnds() {
        var call = self.ringing()
        #expect(call.accepted(by: self.bob) == [.stopRinging(self.bob.user, except: self.bob.device), .record(.accepted)])
        #expect(call.ringTimerFired().isEmpty)
        #expect(call.left(self.ann) == [.record(.ended)])
        #expect(call.isOver)
        #expect(call.left(self.bob).isEmpty)
    }

    @Test func answeredElsewhereStopsTheOtherDevices() {
        var call = self.ringing()
        _ = call.accepted(by: self.bob)
        #expect(call.accepted(by: self.phone).isEmpty)
        #expect(call.parties == [self.ann, self.bob])
    }

    @Test func aRingWithoutAnAnswerIsMissed() {
        var call = self.ringing()
        #expect(call.ringTimerFired() == [.stopRinging(self.bob.user, except: nil), .record(.missed)])
        #expect(call.accepted(by: self.bob).isEmpty, "too late")
    }

    @Test func theCallerEndsTheRinging() {
        var call = self.ringing()
        #expect(call.left(self.ann) == [.stopRinging(self.bob.user, except: nil), .record(.missed)])
    }

    @Test func aDeclinedOrBusyPairIsOver() {
        var call = self.ringing()
        #expect(call.declined(by: self.bob.user) == [.stopRinging(self.bob.user, except: nil), .record(.declined)])
        call = self.ringing()
        #expect(call.busy(self.bob.user) == [.stopRinging(self.bob.user, except: nil), .record(.busy)])
        #expect(call.busy(self.bob.user).isEmpty)
    }

    @Test func inAGroupOneRefusalIsNotTheEnd() {
        var call = self.ringing([self.bob, self.cid])
        #expect(call.declined(by: self.bob.user) == [.stopRinging(self.bob.user, except: nil)])
        #expect(call.accepted(by: self.cid) == [.stopRinging(self.cid.user, except: self.cid.device), .record(.accepted)])
        #expect(call.accepted(by: self.bob).isEmpty, "may join later")
        #expect(call.parties.count == 3)
        #expect(call.left(self.ann).isEmpty)
        #expect(call.left(self.cid) == [.record(.ended)])
    }

    @Test func theTimerStopsThoseThatDidNotAnswerAGroupCall() {
        var call = self.ringing([self.bob, self.cid])
        _ = call.accepted(by: self.bob)
        #expect(call.ringTimerFired() == [.stopRinging(self.cid.user, except: nil)])
        #expect(!call.isOver)
    }

    @Test func aCallToNoOtherUserIsMissed() {
        var call = CallMachine(caller: self.ann, callees: [self.ann.user])
        #expect(call.started() == [.record(.missed)])
    }

    @Test func signalsPassBetweenPartiesOnly() {
        var call = self.ringing()
        #expect(call.maySignal(from: self.ann, to: self.bob.user))
        #expect(call.maySignal(from: self.bob, to: self.ann.user))
        #expect(!call.maySignal(from: self.cid, to: self.ann.user))
        #expect(!call.maySignal(from: self.ann, to: self.cid.user))
        _ = call.accepted(by: self.bob)
        #expect(!call.maySignal(from: self.phone, to: self.ann.user), "the device that did not answer")
        _ = call.left(self.bob)
        #expect(!call.maySignal(from: self.ann, to: self.bob.user))
    }
}
