import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct CallWatchTests {
    private let call = EventAddress(ConversationKey(7), 3)
    private let phone = DeviceKey(1)
    private let desktop = DeviceKey(2)
    private let tablet = DeviceKey(3)

    private func watch(connected devices: [DeviceKey] = []) -> CallWatch {
        var watch = CallWatch(ringTime: .seconds(60), absenceTime: .seconds(30))
        for device in devices { #expect(watch.connected(device, at: 0) == []) }
        return watch
    }

    /// The phone and the desktop belong to different users, the other devices to one more.
    private func party(_ device: DeviceKey) -> CallChange.Party { CallChange.Party(UserKey(min(100 + device.rawValue, 103)), device) }

    private func change(_ state: CallState, _ device: DeviceKey? = nil, isGroup: Bool = false) -> [CallChange] {
        [CallChange(call: self.call, .state(state, joined: device.map { self.party($0) }), isGroup: isGroup)]
    }

    private func joined(_ device: DeviceKey) -> [CallChange] { self.change(.accepted, device, isGroup: true) }
    private func left(_ device: DeviceKey) -> [CallChange] { [CallChange(call: self.call, .left(device), isGroup: true)] }

    private func departed(_ device: DeviceKey) -> [CallChange] {
        [CallChange(call: self.call, .departed(self.party(device).user), isGroup: true)]
    }

    private var ring: [CallWatch.Action] { [.startTimer(self.call, after: .seconds(60))] }
    private var absence: [CallWatch.Action] { [.startTimer(self.call, after: .seconds(30))] }
    private var stop: [CallWatch.Action] { [.cancelTimer(self.call)] }
    private var end: [CallWatch.Action] { [.report(self.call, .ended)] }

    /// Returns the watch of an accepted call of two connected devices.
    private func accepted(isGroup: Bool = false) -> CallWatch {
        var watch = self.watch(connected: [self.phone, self.desktop])
        #expect(watch.committed(self.change(.ringing, self.phone, isGroup: isGroup), deleted: [], at: 0) == self.ring)
        #expect(watch.committed(self.change(.accepted, self.desktop, isGroup: isGroup), deleted: [], at: 0) == self.stop)
        return watch
    }

    @Test func aRingWithoutAnAnswerIsMissed() {
        var watch = self.watch(connected: [self.phone])
        #expect(watch.committed(self.change(.ringing, self.phone), deleted: [], at: 0) == self.ring)
        #expect(watch.disconnected(self.phone, at: 1) == [], "the ring goes on")
        #expect(watch.timerFired(self.call, at: 60_000) == [.report(self.call, .missed)])
        #expect(watch.committed(self.change(.missed), deleted: [], at: 60_000) == self.stop)
        #expect(watch.count == 0)
        #expect(watch.timerFired(self.call, at: 60_000) == [] && watch.reported(self.call, .missed, .done, at: 60_000) == [])
    }

    @Test(arguments: [false, true]) func aCallEndsWithItsLastDevice(isGroup: Bool) {
        var watch = self.accepted(isGroup: isGroup)
        #expect(watch.disconnected(self.phone, at: 1_000) == [])
        #expect(watch.disconnected(self.desktop, at: 2_000) == self.absence)
        #expect(watch.timerFired(self.call, at: 32_000) == self.end)
        #expect(watch.timerFired(self.call, at: 32_000) == [], "the end is reported")
        #expect(watch.reported(self.call, .ended, .done, at: 32_001) == [])
        #expect(watch.count == 0)
    }

    @Test func aReconnectionInTimeIsNotSeen() {
        var watch = self.accepted()
        _ = watch.disconnected(self.phone, at: 1_000)
        _ = watch.disconnected(self.desktop, at: 2_000)
        #expect(watch.connected(self.phone, at: 31_999) == self.stop)
        #expect(watch.timerFired(self.call, at: 32_000) == [], "the timer was about to fire")
        #expect(watch.disconnected(self.phone, at: 50_000) == self.absence)
    }

    @Test func oneOfSeveralConnectionsOfADeviceIsEnough() {
        var watch = self.accepted()
        _ = watch.disconnected(self.desktop, at: 1)
        #expect(watch.connected(self.phone, at: 2) == [])
        #expect(watch.disconnected(self.phone, at: 3) == [])
        #expect(watch.disconnected(self.phone, at: 4) == self.absence)
        #expect(watch.disconnected(self.phone, at: 5) == [], "an unknown connection")
    }

    @Test func otherDevicesDoNotKeepACall() {
        var watch = self.accepted()
        #expect(watch.devices(of: self.call) == [self.phone, self.desktop])
        _ = watch.connected(self.tablet, at: 1)
        _ = watch.disconnected(self.phone, at: 2)
        #expect(watch.disconnected(self.desktop, at: 3) == self.absence)
        #expect(watch.signalled(self.call, by: self.party(self.tablet), at: 4) == self.stop, "it takes part now")
        #expect(watch.signalled(self.call, by: self.party(self.tablet), at: 5) == [])
        #expect(watch.devices(of: self.call).contains(self.tablet))
        #expect(watch.devices(of: EventAddress(ConversationKey(7), 4)) == [])
        #expect(watch.disconnected(self.tablet, at: 6) == self.absence)
        #expect(watch.signalled(EventAddress(ConversationKey(7), 4), by: self.party(self.tablet), at: 7) == [], "an unknown call")
    }

    @Test func aCallThatWasAcceptedBeforeARestartEndsUnlessADeviceTakesPart() {
        var watch = self.watch(connected: [self.phone])
        #expect(watch.resume([self.call], at: 0) == self.ring)
        #expect(watch.resume([self.call], at: 0) == [])
        #expect(watch.timerFired(self.call, at: 60_000) == [.report(self.call, .missed)])
        #expect(watch.reported(self.call, .missed, .unchanged, at: 60_000) == self.absence)
        var other = watch
        #expect(watch.timerFired(self.call, at: 90_000) == self.end)
        #expect(other.committed(self.change(.accepted, self.phone), deleted: [], at: 89_999) == self.stop)
        #expect(other.timerFired(self.call, at: 90_000) == [])
        // A device that sent a signal before the ring time ended.
        var early = self.watch(connected: [self.phone])
        _ = early.resume([self.call], at: 0)
        #expect(early.signalled(self.call, by: self.party(self.phone), at: 1) == [])
        _ = early.timerFired(self.call, at: 60_000)
        #expect(early.reported(self.call, .missed, .unchanged, at: 60_000) == self.stop)
        #expect(early.disconnected(self.phone, at: 70_000) == self.absence)
    }

    @Test func aReportThatCouldNotBeStoredIsRepeated() {
        var watch = self.watch()
        _ = watch.committed(self.change(.ringing, self.phone), deleted: [], at: 0)
        _ = watch.timerFired(self.call, at: 60_000)
        #expect(watch.reported(self.call, .missed, .failed, at: 60_000) == self.ring)
        #expect(watch.timerFired(self.call, at: 120_000) == [.report(self.call, .missed)])
        _ = watch.committed(self.change(.accepted, self.desktop), deleted: [], at: 120_000)
        #expect(watch.reported(self.call, .missed, .unchanged, at: 120_000) == [], "the answer came first")
        #expect(watch.timerFired(self.call, at: 150_000) == self.end)
        #expect(watch.reported(self.call, .ended, .failed, at: 150_000) == self.absence)
        #expect(watch.timerFired(self.call, at: 180_000) == self.end)
        #expect(watch.reported(self.call, .ended, .unchanged, at: 180_000) == [], "a device ended it")
        #expect(watch.count == 0)
    }

    @Test func theCallsOfADeletedConversationAreForgotten() {
        var watch = self.accepted()
        #expect(watch.committed([], deleted: [ConversationKey(8)], at: 1) == [])
        #expect(watch.count == 1)
        #expect(watch.committed([], deleted: [ConversationKey(7)], at: 2) == [], "no timer runs")
        #expect(watch.count == 0 && watch.disconnected(self.phone, at: 3) == [])
    }

    @Test func theDevicesOfACallAreBounded() {
        var watch = self.accepted()
        let last = Int64(CallWatch.maximumDevices) + 10
        for number in 3...last {
            _ = watch.signalled(self.call, by: self.party(DeviceKey(number)), at: 1)
            _ = watch.connected(DeviceKey(number), at: 1)
        }
        #expect(watch.devices(of: self.call).count == CallWatch.maximumDevices)
        for number in 1..<last - 9 { _ = watch.disconnected(DeviceKey(number), at: 2) }
        // The devices beyond the limit are connected, and do not count.
        #expect(watch.timerFired(self.call, at: 30_002) == self.end)
    }
}

/// Calls of groups, which their devices leave one by one.
extension CallWatchTests {
    @Test func theCallOfAGroupEndsWhenItsLastDeviceLeaves() {
        var watch = self.accepted(isGroup: true)
        #expect(watch.committed(self.left(self.phone), deleted: [], at: 1) == [])
        #expect(watch.devices(of: self.call) == [self.desktop])
        #expect(watch.committed(self.left(self.phone), deleted: [], at: 2) == [], "once more")
        #expect(watch.committed(self.left(self.tablet), deleted: [], at: 3) == [], "a member who was never in the call")
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 4) == self.end)
        #expect(watch.committed(self.left(self.desktop) + self.left(self.phone), deleted: [], at: 5) == [], "the end is reported once")
        #expect(watch.disconnected(self.desktop, at: 6) == [] && watch.connected(self.desktop, at: 7) == [])
        #expect(watch.committed(self.change(.ended, isGroup: true), deleted: [], at: 8) == [])
        #expect(watch.reported(self.call, .ended, .done, at: 9) == [] && watch.count == 0)
    }

    @Test func theLastTwoDevicesLeaveAtOnce() {
        var watch = self.accepted(isGroup: true)
        #expect(watch.committed(self.left(self.desktop) + self.left(self.phone) + self.left(self.desktop), deleted: [], at: 1) == self.end)
    }

    @Test func aDeviceThatLeftCanJoinAgain() {
        var watch = self.accepted(isGroup: true)
        _ = watch.committed(self.left(self.phone), deleted: [], at: 1)
        #expect(watch.committed(self.joined(self.phone), deleted: [], at: 2) == [])
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 3) == [], "the other one is back")
        #expect(watch.committed(self.left(self.phone) + self.joined(self.phone), deleted: [], at: 4) == [], "in one batch")
        #expect(watch.devices(of: self.call) == [self.phone])
        // The end is being written when a device joins: the storage decides.
        #expect(watch.committed(self.left(self.phone), deleted: [], at: 5) == self.end)
        #expect(watch.committed(self.joined(self.desktop), deleted: [], at: 6) == [])
        #expect(watch.reported(self.call, .ended, .failed, at: 7) == [] && watch.count == 1, "the call goes on")
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 8) == self.end)
    }

    /// Signals take another way than reports, and can arrive after them.
    @Test func theLastSignalsOfADeviceDoNotAddItAgain() {
        var watch = self.accepted(isGroup: true)
        _ = watch.committed(self.left(self.phone), deleted: [], at: 1)
        #expect(watch.signalled(self.call, by: self.party(self.phone), at: 2) == [])
        #expect(watch.devices(of: self.call) == [self.desktop])
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 3) == self.end)
        #expect(watch.signalled(self.call, by: self.party(self.desktop), at: 4) == [])
    }

    @Test func aDeviceThatStaysAwayHasLeft() {
        var watch = self.accepted(isGroup: true)
        #expect(watch.disconnected(self.phone, at: 1_000) == [])
        // Within the absence time, the device can reconnect.
        var early = watch
        #expect(early.committed(self.left(self.desktop), deleted: [], at: 11_000) == [.startTimer(self.call, after: .seconds(20))])
        #expect(early.connected(self.phone, at: 12_000) == [], "it need not take part any more")
        #expect(early.committed(self.joined(self.phone), deleted: [], at: 12_001) == self.stop)
        #expect(early.committed(self.left(self.phone), deleted: [], at: 12_002) == self.end)
        // After the absence time, the call ends when the last other device leaves.
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 31_000) == self.end)
    }

    @Test func aProgramThatWasRestartedDoesNotKeepTheCall() {
        var watch = self.accepted(isGroup: true)
        _ = watch.disconnected(self.phone, at: 1_000)
        _ = watch.connected(self.phone, at: 2_000)
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 3_000) == [.startTimer(self.call, after: .seconds(28))])
        #expect(watch.timerFired(self.call, at: 31_000) == self.end)
        // A signal shows that the device takes part.
        var other = self.accepted(isGroup: true)
        _ = other.disconnected(self.phone, at: 1_000)
        #expect(other.signalled(self.call, by: self.party(self.phone), at: 1_500) == [], "it is not connected")
        _ = other.connected(self.phone, at: 2_000)
        #expect(other.signalled(self.call, by: self.party(self.phone), at: 2_500) == [])
        #expect(other.committed(self.left(self.desktop), deleted: [], at: 3_000) == [])
    }

    @Test func theDevicesOfARemovedMemberLeave() {
        var watch = self.accepted(isGroup: true)
        _ = watch.connected(self.tablet, at: 0)
        _ = watch.connected(DeviceKey(4), at: 0)
        _ = watch.committed(self.joined(self.tablet) + self.joined(DeviceKey(4)), deleted: [], at: 0)
        #expect(watch.committed(self.departed(self.tablet), deleted: [], at: 1) == [])
        #expect(watch.devices(of: self.call) == [self.phone, self.desktop], "both devices of the user")
        #expect(watch.committed(self.departed(self.tablet), deleted: [], at: 2) == [], "a member without a device in the call")
        #expect(watch.committed(self.left(self.phone), deleted: [], at: 3) == [])
        #expect(watch.committed(self.departed(self.desktop), deleted: [], at: 4) == self.end)
    }

    @Test func theRingContinuesWithoutItsCaller() {
        var watch = self.watch(connected: [self.phone, self.desktop])
        _ = watch.committed(self.change(.ringing, self.phone, isGroup: true), deleted: [], at: 0)
        #expect(watch.committed(self.departed(self.phone), deleted: [], at: 1) == [])
        #expect(watch.committed(self.joined(self.desktop), deleted: [], at: 2) == self.stop)
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 3) == self.end)
    }

    /// After a restart, devices can take part that have not reconnected yet.
    @Test func aCallThatTheServerDoesNotKnowWaitsForItsDevices() {
        var watch = self.watch(connected: [self.phone])
        #expect(watch.resume([self.call], at: 0) == self.ring)
        #expect(watch.committed(self.left(self.desktop), deleted: [], at: 100) == [], "an unknown device")
        #expect(watch.committed(self.joined(self.phone), deleted: [], at: 1_000) == self.stop)
        #expect(watch.committed(self.left(self.phone), deleted: [], at: 2_000) == [.startTimer(self.call, after: .seconds(28))])
        var other = watch
        #expect(watch.timerFired(self.call, at: 30_000) == self.end)
        _ = other.connected(self.desktop, at: 3_000)
        #expect(other.committed(self.joined(self.desktop), deleted: [], at: 3_000) == self.stop)
        #expect(other.committed(self.left(self.desktop), deleted: [], at: 31_000) == self.end, "all devices are known")
        // The same holds after a failure of the storage, for the calls that were known before.
        var recovered = self.accepted(isGroup: true)
        #expect(recovered.resume([self.call], at: 5_000) == [])
        #expect(recovered.committed(self.left(self.phone) + self.left(self.desktop), deleted: [], at: 6_000).count == 1)
        #expect(recovered.timerFired(self.call, at: 35_000) == self.end)
    }

    @Test func aMemberWhoJoinsAndLeavesWithoutEndEndsNothing() {
        var watch = self.accepted(isGroup: true)
        _ = watch.connected(self.tablet, at: 0)
        for time in 1...1_000 as ClosedRange<Int64> {
            #expect(watch.committed(self.joined(self.tablet) + self.left(self.tablet), deleted: [], at: time) == [])
            #expect(watch.signalled(self.call, by: self.party(self.tablet), at: time) == [])
        }
        #expect(watch.devices(of: self.call) == [self.phone, self.desktop])
    }

    /// The timers of a shell may fire earlier than requested.
    @Test func aTimerThatFiresEarlyStartsAgain() {
        var watch = self.accepted()
        _ = watch.disconnected(self.phone, at: 0)
        _ = watch.disconnected(self.desktop, at: 0)
        #expect(watch.timerFired(self.call, at: 29_999) == [.startTimer(self.call, after: .milliseconds(1))])
        #expect(watch.timerFired(self.call, at: 30_000) == self.end)
    }
}
