package import ApusChatProtocol
package import ApusChatStorage

/// Ends the calls that no device can end: calls that no device answers, and calls whose devices
/// have all disconnected.
///
/// A device takes part in a call if it started or accepted the call, or sent a signal of it. After
/// a restart of the server, the devices of running calls become known in the same way.
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
        /// No device of the call is connected. The timer ends it.
        case absent
    }

    private struct Call {
        var phase: Phase
        var devices: Set<DeviceKey> = []
    }

    /// The maximum number of devices of one call that are tracked.
    package static let maximumDevices = 256

    private let ringTime: Duration
    private let absenceTime: Duration
    private var calls: [EventAddress: Call] = [:]
    private var callsOfDevices: [DeviceKey: Set<EventAddress>] = [:]
    /// The number of connections of each connected device.
    private var connections: [DeviceKey: Int] = [:]

    /// - Parameters:
    ///   - ringTime: The time for which a call rings.
    ///   - absenceTime: The time after which a call without a connected device ends. A reconnection
    ///     within this time has no effect.
    package init(ringTime: Duration, absenceTime: Duration) {
        self.ringTime = ringTime
        self.absenceTime = absenceTime
    }

    package var count: Int { self.calls.count }

    // MARK: Calls

    /// Resumes the calls that were running when the server stopped. Each rings for the full time
    /// again; the end of the ringing has no effect on a call that was accepted.
    package mutating func resume(_ calls: [EventAddress]) -> [Action] {
        calls.flatMap { self.calls[$0] == nil ? self.begin($0) : [] }
    }

    /// Handles the changes of a batch.
    package mutating func committed(_ changes: [CallChange], deleted: [ConversationKey]) -> [Action] {
        var actions: [Action] = []
        for change in changes {
            switch change.state {
            case .ringing:
                if self.calls[change.call] == nil { actions += self.begin(change.call) }
                if let device = change.device { self.add(device, to: change.call) }
            case .accepted:
                if let device = change.device { self.add(device, to: change.call) }
                actions += self.attend(change.call)
            case .ended, .missed, .declined, .busy, .unknown: actions += self.forget(change.call)
            }
        }
        if !deleted.isEmpty {
            let gone = Set(deleted)
            for call in self.calls.keys where gone.contains(call.conversation) { actions += self.forget(call) }
        }
        return actions
    }

    /// Records that a device sent a signal of a running call.
    package mutating func signalled(_ call: EventAddress, by device: DeviceKey) -> [Action] {
        guard let phase = self.calls[call]?.phase else { return [] }
        self.add(device, to: call)
        return phase == .absent ? self.attend(call) : []
    }

    /// Returns the devices that take part in a running call.
    package func devices(of call: EventAddress) -> Set<DeviceKey> { self.calls[call]?.devices ?? [] }

    private mutating func begin(_ call: EventAddress) -> [Action] {
        self.calls[call] = Call(phase: .ringing)
        return [.startTimer(call, after: self.ringTime)]
    }

    private mutating func add(_ device: DeviceKey, to call: EventAddress) {
        guard let count = self.calls[call]?.devices.count, count < Self.maximumDevices else { return }
        self.calls[call]?.devices.insert(device)
        self.callsOfDevices[device, default: []].insert(call)
    }

    private mutating func forget(_ call: EventAddress) -> [Action] {
        guard let gone = self.calls.removeValue(forKey: call) else { return [] }
        for device in gone.devices {
            self.callsOfDevices[device]?.remove(call)
            if self.callsOfDevices[device]?.isEmpty == true { self.callsOfDevices[device] = nil }
        }
        return gone.phase == .present ? [] : [.cancelTimer(call)]
    }

    /// Sets the timer of an accepted call according to its connected devices.
    private mutating func attend(_ call: EventAddress) -> [Action] {
        guard let before = self.calls[call] else { return [] }
        let isPresent = before.devices.contains { self.connections[$0] != nil }
        self.calls[call]?.phase = isPresent ? .present : .absent
        switch (before.phase, isPresent) {
        case (.present, true), (.absent, false): return []
        case (.ringing, true), (.absent, true): return [.cancelTimer(call)]
        case (.ringing, false), (.present, false): return [.startTimer(call, after: self.absenceTime)]
        }
    }

    // MARK: Timers

    package mutating func timerFired(_ call: EventAddress) -> [Action] {
        switch self.calls[call]?.phase {
        case .ringing: [.report(call, .missed)]
        case .absent: [.report(call, .ended)]
        case .present, nil: []
        }
    }

    /// Handles the result of a report of the server.
    package mutating func reported(_ call: EventAddress, _ state: CallState, _ outcome: Outcome) -> [Action] {
        guard let phase = self.calls[call]?.phase else { return [] }
        switch (outcome, phase) {
        case (.done, _): return self.forget(call)
        case (.unchanged, .ringing): return self.attend(call)  // accepted before a restart of the server
        case (.unchanged, _): return state == .ended ? self.forget(call) : []
        case (.failed, .ringing): return [.startTimer(call, after: self.ringTime)]
        case (.failed, .absent): return [.startTimer(call, after: self.absenceTime)]
        case (.failed, .present): return []
        }
    }

    // MARK: Connections

    package mutating func connected(_ device: DeviceKey) -> [Action] {
        self.connections[device, default: 0] += 1
        return self.attendCalls(of: device)
    }

    package mutating func disconnected(_ device: DeviceKey) -> [Action] {
        guard let count = self.connections[device] else { return [] }
        self.connections[device] = count > 1 ? count - 1 : nil
        return count > 1 ? [] : self.attendCalls(of: device)
    }

    private mutating func attendCalls(of device: DeviceKey) -> [Action] {
        var actions: [Action] = []
        for call in self.callsOfDevices[device] ?? [] where self.calls[call]?.phase != .ringing { actions += self.attend(call) }
        return actions
    }
}
