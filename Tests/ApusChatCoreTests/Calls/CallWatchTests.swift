import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct CallWatchTests {
    private let call = EventAddress(ConversationKey(7), 3)
    private let phone = DeviceKey(1)
    private let desktop = DeviceKey(2)

    private func watch(connected devices: [DeviceKey] = []) -> CallWatch {
        var watch = CallWatch(ringTime: .seconds(60), absenceTime: .seconds(30))
        for device in devices { #expect(watch.connected(device) == []) }
        return watch
    }

    private func change(_ state: CallState, _ device: DeviceKey? = nil) -> [CallChange] {
        [CallChange(call: self.call, state: state, device: device)]
    }

    private var ring: [CallWatch.Action] { [.startTimer(self.call, after: .seconds(60))] }
    private var absence: [CallWatch.Action] { [.startTimer(self.call, after: .seconds(30))] }
    private var stop: [CallWatch.Action] { [.cancelTimer(self.call)] }

    /// Returns the watch of an accepted call of two connected devices.
    private func accepted() -> CallWatch {
        var watch = self.watch(connected: [self.phone, self.desktop])
        #expect(watch.committed(self.change(.ringing, self.phone), deleted: []) == self.ring)
        #expect(watch.committed(self.change(.accepted, self.desktop), deleted: []) == self.stop)
        return watch
    }

    @Test func aRingWithoutAnAnswerIsMissed() {
        var watch = self.watch(connected: [self.phone])
        #expect(watch.committed(self.change(.ringing, self.phone), deleted: []) == self.ring)
        #expect(watch.disconnected(self.phone) == [], "the ring goes on")
        #expect(watch.timerFired(self.call) == [.report(self.call, .missed)])
        #expect(watch.committed(self.change(.missed), deleted: []) == self.stop)
        #expect(watch.count == 0)
        #expect(watch.timerFired(self.call) == [] && watch.reported(self.call, .missed, .done) == [])
    }

    @Test func aCallEndsWhenTheLastOfItsDevicesIsGone() {
        var watch = self.accepted()
        #expect(watch.disconnected(self.phone) == [])
        #expect(watch.disconnected(self.desktop) == self.absence)
        #expect(watch.timerFired(self.call) == [.report(self.call, .ended)])
        #expect(watch.reported(self.call, .ended, .done) == self.stop)
        #expect(watch.count == 0)
    }

    @Test func aReconnectionInTimeIsNotSeen() {
        var watch = self.accepted()
        _ = watch.disconnected(self.phone)
        _ = watch.disconnected(self.desktop)
        #expect(watch.connected(self.phone) == self.stop)
        #expect(watch.timerFired(self.call) == [], "the timer was about to fire")
        #expect(watch.disconnected(self.phone) == self.absence)
    }

    @Test func oneOfSeveralConnectionsOfADeviceIsEnough() {
        var watch = self.accepted()
        _ = watch.disconnected(self.desktop)
        #expect(watch.connected(self.phone) == [])
        #expect(watch.disconnected(self.phone) == [])
        #expect(watch.disconnected(self.phone) == self.absence)
        #expect(watch.disconnected(self.phone) == [], "an unknown connection")
    }

    @Test func otherDevicesDoNotKeepACall() {
        let tablet = DeviceKey(3)
        var watch = self.accepted()
        #expect(watch.devices(of: self.call) == [self.phone, self.desktop])
        _ = watch.connected(tablet)
        _ = watch.disconnected(self.phone)
        #expect(watch.disconnected(self.desktop) == self.absence)
        #expect(watch.signalled(self.call, by: tablet) == self.stop, "it takes part now")
        #expect(watch.signalled(self.call, by: tablet) == [])
        #expect(watch.devices(of: self.call).contains(tablet))
        #expect(watch.devices(of: EventAddress(ConversationKey(7), 4)) == [])
        #expect(watch.disconnected(tablet) == self.absence)
        #expect(watch.signalled(EventAddress(ConversationKey(7), 4), by: tablet) == [], "an unknown call")
    }

    @Test func aCallThatWasAcceptedBeforeARestartEndsUnlessADeviceTakesPart() {
        var watch = self.watch(connected: [self.phone])
        #expect(watch.resume([self.call]) == self.ring)
        #expect(watch.resume([self.call]) == [])
        #expect(watch.timerFired(self.call) == [.report(self.call, .missed)])
        #expect(watch.reported(self.call, .missed, .unchanged) == self.absence)
        var other = watch
        #expect(watch.timerFired(self.call) == [.report(self.call, .ended)])
        #expect(other.committed(self.change(.accepted, self.phone), deleted: []) == self.stop)
        #expect(other.timerFired(self.call) == [])
        // A device that sent a signal before the ring time ended.
        var early = self.watch(connected: [self.phone])
        _ = early.resume([self.call])
        #expect(early.signalled(self.call, by: self.phone) == [])
        _ = early.timerFired(self.call)
        #expect(early.reported(self.call, .missed, .unchanged) == self.stop)
        #expect(early.disconnected(self.phone) == self.absence)
    }

    @Test func whatTheStorageCouldNotWriteIsReportedAgain() {
        var watch = self.watch()
        _ = watch.committed(self.change(.ringing, self.phone), deleted: [])
        _ = watch.timerFired(self.call)
        #expect(watch.reported(self.call, .missed, .failed) == self.ring)
        #expect(watch.timerFired(self.call) == [.report(self.call, .missed)])
        _ = watch.committed(self.change(.accepted, self.desktop), deleted: [])
        #expect(watch.reported(self.call, .missed, .unchanged) == [], "the answer came first")
        _ = watch.timerFired(self.call)
        #expect(watch.reported(self.call, .ended, .failed) == self.absence)
        #expect(watch.reported(self.call, .ended, .unchanged) == self.stop, "a device ended it")
        #expect(watch.count == 0)
    }

    @Test func theCallsOfADeletedConversationAreForgotten() {
        var watch = self.accepted()
        #expect(watch.committed([], deleted: [ConversationKey(8)]) == [])
        #expect(watch.count == 1)
        #expect(watch.committed([], deleted: [ConversationKey(7)]) == [], "no timer runs")
        #expect(watch.count == 0 && watch.disconnected(self.phone) == [])
    }

    @Test func theDevicesOfACallAreBounded() {
        var watch = self.accepted()
        let last = Int64(CallWatch.maximumDevices) + 10
        for number in 3...last {
            _ = watch.signalled(self.call, by: DeviceKey(number))
            _ = watch.connected(DeviceKey(number))
        }
        for number in 1..<last - 9 { _ = watch.disconnected(DeviceKey(number)) }
        // The devices beyond the limit are connected, and do not count.
        #expect(watch.timerFired(self.call) == [.report(self.call, .ended)])
    }
}
