package import ApusChatProtocol
package import ApusChatStorage

/// Ends the calls that no device can end: calls that no device answers, calls whose devices have
/// all disconnected, and group calls that the last device has left.
///
/// A device takes part in a call if it started or accepted the call, or sent a signal of the call.
/// After a restart of the server, the devices of running calls become known in the same way. In a
/// group, a device that disconnected must accept the call or send a signal again within the absence
/// time. Otherwise, a restarted program would prolong a call in which it no longer takes part.
///
/// All times are in milliseconds of a clock that is never set back.
package struct CallWatch: Sendable {
    package enum Action: Sendable, Equatable {
        /// Call `timerFired` after this time. Replaces the previous timer of the call.
        case startTimer(EventAddress, after: Duration)
        case cancelTimer(EventAddress)
        /// Report the state as the server, and pass the result to `reported`.
        case report(EventAddress, CallState)
    }

    /// The result of a state that the server reported.
    package enum Outcome: Sendable, Equatable {
        /// The state of the call was changed, or is final.
        case done
        /// The report has no effect in the present state of the call.
        case unchanged
        /// The storage could not write the state.
        case failed
    }

    private enum Phase: Equatable {
        /// The call rings. The timer ends it.
        case ringing
        /// At least one device of the call is connected. No timer runs.
        case present
        /// No device of the call is connected. The timer ends the call at this time.
        case absent(until: Int64)
        /// The end is reported to the log. No timer runs.
        case ending

        var hasTimer: Bool {
            switch self {
            case .ringing, .absent: true
            case .present, .ending: false
            }
        }
    }

    private struct Part {
        let user: UserKey
        /// The time since which the device is away; nil while it takes part. In a group, a
        /// reconnection alone does not end the absence.
        var awaySince: Int64?
    }

    private struct Call {
        var phase = Phase.ringing
        /// Whether the call is known to be answered.
        var isAnswered = false
        var isGroup = false
        var parts: [DeviceKey: Part] = [:]
        /// The devices that have left. Their delayed signals do not make them take part again.
        var left: Set<DeviceKey> = []
        /// The time until which unknown devices may take part, because the call began before a
        /// restart of the server.
        var knownFrom = Int64.min
    }

    /// The maximum number of devices of one call that are tracked.
    package static let maximumDevices = 1_024

    private let ringTime: Duration
    /// The time after which a call without a connected device ends, in milliseconds.
    private let absence: Int64
    private var calls: [EventAddress: Call] = [:]
    private var callsOfDevices: [DeviceKey: Set<EventAddress>] = [:]
    /// The number of connections of each connected device.
    private var connections: [DeviceKey: Int] = [:]

    /// - Parameters:
    ///   - ringTime: The time for which a call rings.
    ///   - absenceTime: The time after which a call without a connected device ends. The call
    ///     continues if one of its devices takes part again within this time.
    package init(ringTime: Duration, absenceTime: Duration) {
        self.ringTime = ringTime
        self.absence = Int64(absenceTime / .milliseconds(1))
    }

    package var count: Int { self.calls.count }

    // MARK: Calls

    /// Resumes the calls that were running when the server stopped. Each rings for the full time
    /// again; the end of the ringing has no effect on a call that was accepted.
    package mutating func resume(_ calls: [EventAddress], at time: Int64) -> [Action] {
        var actions: [Action] = []
        for call in calls {
            if self.calls[call] == nil { actions += self.begin(call) }
            self.calls[call]?.knownFrom = time + self.absence
        }
        return actions
    }

    /// Handles the changes of a batch.
    package mutating func committed(_ changes: [CallChange], deleted: [ConversationKey], at time: Int64) -> [Action] {
        var actions: [Action] = []
        var changed: [EventAddress] = []
        for change in changes {
            let call = change.call
            switch change.event {
            case .state(.ringing, let device):
                if self.calls[call] == nil { actions += self.begin(call) }
                if let device { self.join(device, call, at: time) }
            case .state(.accepted, let device):
                if let device { self.join(device, call, at: time) }
                self.calls[call]?.isAnswered = true
                changed.append(call)
            case .state: actions += self.forget(call)
            case .left(let device):
                guard self.remove(device, from: call) else { continue }
                self.calls[call]?.left.insert(device)
                changed.append(call)
            case .departed(let user):
                let parts = self.calls[call]?.parts.filter { $0.value.user == user } ?? [:]
                for device in parts.keys where self.remove(device, from: call) { changed.append(call) }
            }
            self.calls[call]?.isGroup = change.isGroup
        }
        // A device that leaves and joins again in one batch does not end the call.
        for (index, call) in changed.enumerated() where !changed[..<index].contains(call) { actions += self.attend(call, at: time) }
        if !deleted.isEmpty {
            let gone = Set(deleted)
            for call in self.calls.keys where gone.contains(call.conversation) { actions += self.forget(call) }
        }
        return actions
    }

    /// Records that a device sent a signal of a running call.
    package mutating func signalled(_ call: EventAddress, by party: CallChange.Party, at time: Int64) -> [Action] {
        guard let state = self.calls[call], !state.left.contains(party.device) else { return [] }
        if let part = state.parts[party.device], part.awaySince == nil || self.connections[party.device] == nil { return [] }
        self.join(party, call, at: time)
        return self.attend(call, at: time)
    }

    /// Returns the devices that take part in a running call.
    package func devices(of call: EventAddress) -> Set<DeviceKey> { Set(self.calls[call]?.parts.keys.map { $0 } ?? []) }

    private mutating func begin(_ call: EventAddress) -> [Action] {
        self.calls[call] = Call()
        return [.startTimer(call, after: self.ringTime)]
    }

    private mutating func join(_ party: CallChange.Party, _ call: EventAddress, at time: Int64) {
        guard let parts = self.calls[call]?.parts, parts[party.device] != nil || parts.count < Self.maximumDevices else { return }
        self.calls[call]?.left.remove(party.device)
        self.calls[call]?.parts[party.device] = Part(user: party.user, awaySince: self.connections[party.device] == nil ? time : nil)
        self.callsOfDevices[party.device, default: []].insert(call)
    }

    /// Removes a device from a call. Returns whether the device took part.
    private mutating func remove(_ device: DeviceKey, from call: EventAddress) -> Bool {
        guard self.calls[call]?.parts.removeValue(forKey: device) != nil else { return false }
        self.forget(call, of: device)
        return true
    }

    private mutating func forget(_ call: EventAddress) -> [Action] {
        guard let gone = self.calls.removeValue(forKey: call) else { return [] }
        for device in gone.parts.keys { self.forget(call, of: device) }
        return gone.phase.hasTimer ? [.cancelTimer(call)] : []
    }

    private mutating func forget(_ call: EventAddress, of device: DeviceKey) {
        self.callsOfDevices[device]?.remove(call)
        if self.callsOfDevices[device]?.isEmpty == true { self.callsOfDevices[device] = nil }
    }

    /// Sets the timer of an answered call according to its devices, or ends the call.
    private mutating func attend(_ call: EventAddress, at time: Int64) -> [Action] {
        guard let before = self.calls[call], before.isAnswered else { return [] }
        let parts = before.parts.values
        if parts.contains(where: { $0.awaySince == nil }) {
            self.calls[call]?.phase = .present
            return before.phase.hasTimer ? [.cancelTimer(call)] : []
        }
        let end = max(before.knownFrom, parts.compactMap(\.awaySince).max().map { $0 + self.absence } ?? time)
        if end <= time {
            self.calls[call]?.phase = .ending
            guard before.phase != .ending else { return [] }
            return (before.phase.hasTimer ? [.cancelTimer(call)] : []) + [.report(call, .ended)]
        }
        self.calls[call]?.phase = .absent(until: end)
        return before.phase == .absent(until: end) ? [] : [.startTimer(call, after: .milliseconds(end - time))]
    }

    // MARK: Timers

    package mutating func timerFired(_ call: EventAddress, at time: Int64) -> [Action] {
        switch self.calls[call]?.phase {
        case .ringing: return [.report(call, .missed)]
        case .absent(let end):
            guard end <= time else { return [.startTimer(call, after: .milliseconds(end - time))] }
            self.calls[call]?.phase = .ending
            return [.report(call, .ended)]
        case .present, .ending, nil: return []
        }
    }

    /// Handles the result of a report of the server.
    package mutating func reported(_ call: EventAddress, _ state: CallState, _ outcome: Outcome, at time: Int64) -> [Action] {
        guard let phase = self.calls[call]?.phase else { return [] }
        switch (outcome, phase) {
        case (.done, _): return self.forget(call)
        case (.unchanged, .ringing):
            // The call was answered before a restart of the server. Its devices can be
            // reconnecting.
            self.calls[call]?.isAnswered = true
            self.calls[call]?.knownFrom = time + self.absence
            return self.attend(call, at: time)
        case (.unchanged, _): return state == .ended ? self.forget(call) : []
        case (.failed, .ringing): return [.startTimer(call, after: self.ringTime)]
        case (.failed, .ending):
            self.calls[call]?.phase = .absent(until: time + self.absence)
            return [.startTimer(call, after: .milliseconds(self.absence))]
        case (.failed, .present), (.failed, .absent): return []
        }
    }

    // MARK: Connections

    package mutating func connected(_ device: DeviceKey, at time: Int64) -> [Action] {
        self.connections[device, default: 0] += 1
        guard self.connections[device] == 1 else { return [] }
        return self.change(device, at: time) { $0.isGroup ? $0.parts[device]?.awaySince : nil }
    }

    package mutating func disconnected(_ device: DeviceKey, at time: Int64) -> [Action] {
        guard let count = self.connections[device] else { return [] }
        self.connections[device] = count > 1 ? count - 1 : nil
        return count > 1 ? [] : self.change(device, at: time) { $0.parts[device]?.awaySince ?? time }
    }

    /// Sets the time since which a device is away from its calls.
    private mutating func change(_ device: DeviceKey, at time: Int64, _ awaySince: (Call) -> Int64?) -> [Action] {
        var actions: [Action] = []
        for call in self.callsOfDevices[device] ?? [] {
            guard let state = self.calls[call] else { continue }
            self.calls[call]?.parts[device]?.awaySince = awaySince(state)
            actions += self.attend(call, at: time)
        }
        return actions
    }
}
