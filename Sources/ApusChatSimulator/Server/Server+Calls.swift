import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The calls that the server ends, and the reads of forwarded messages.
extension Server {
    static let ringTime = Duration.seconds(6)
    static let absenceTime = Duration.seconds(3)

    static var newCallWatch: CallWatch { CallWatch(ringTime: Self.ringTime, absenceTime: Self.absenceTime) }

    /// Performs the actions on the timers of calls. The actions are sorted by call, so that each
    /// run of a seed has the same order.
    func perform(_ actions: [CallWatch.Action]) {
        for action in actions.sorted(by: { $0.call < $1.call }) {
            switch action {
            case .startTimer(let call, let delay):
                self.lastCallTimer += 1
                self.callTimers[call] = self.lastCallTimer
                self.agenda.add(.call(life: self.life, call, timer: self.lastCallTimer), at: self.clock.monotonic + delay.milliseconds)
            case .cancelTimer(let call): self.callTimers[call] = nil
            case .report(let call, let state):
                self.checkAbsence(of: call, state)
                self.enqueue(.updateCall(call, state))
            }
        }
    }

    /// Handles the end of a connection of a device.
    func callerDisconnected(_ device: Int) {
        let key = DeviceKey(Int64(device))
        if !self.connections.values.contains(where: { $0.device == device }) { self.oracle.callerDisconnected(key) }
        self.perform(self.calls.disconnected(key, at: self.clock.monotonic))
    }

    func callTimerFired(life: Int, _ call: EventAddress, timer: Int) {
        guard life == self.life, self.callTimers[call] == timer else { return }
        self.callTimers[call] = nil
        self.perform(self.calls.timerFired(call, at: self.clock.monotonic))
    }

    /// Resumes the calls that were running when the server stopped.
    func resumeCalls() {
        self.calls = Self.newCallWatch
        self.callTimers = [:]
        (self.oracle.callers, self.oracle.absentCallers) = ([:], [:])
        if self.bug == .restartForgetsCalls { return }
        self.perform(self.calls.resume(self.storage.calls(limit: 10_000), at: self.clock.monotonic))
    }

    /// Notifies the call watch of the result of a state that the server reported.
    func callReported(_ entry: Sequencer.Entry, _ decision: Decision) {
        guard case .updateCall(let call, let state) = entry.command.action, entry.command.actor == UserKey(0) else { return }
        let outcome: CallWatch.Outcome =
            switch decision {
            case .accepted(let answer), .repeated(let answer): answer.seq > 0 ? .done : .unchanged
            case .refused(let error): error.code.isTemporary ? .failed : .done
            }
        self.perform(self.calls.reported(call, state, outcome, at: self.clock.monotonic))
    }

    /// Checks that the server ends a call only if none of its devices is connected.
    private func checkAbsence(of call: EventAddress, _ state: CallState) {
        guard state == .ended else { return }
        let devices = self.oracle.callersThatKeep(call)
        if self.connections.values.contains(where: { devices.contains(DeviceKey(Int64($0.device))) }) {
            self.faults.append(
                "the server ends the call \(call.seq) in \(call.conversation.rawValue), although one of its devices is connected")
        }
    }

    /// Checks that the server has recorded the devices of the calls that a batch changed.
    func checkDevices(of changes: [CallChange]) {
        for call in changes.map(\.call) where self.oracle.books[call.conversation]?.call?.seq == call.seq {
            let (known, devices) = (self.calls.devices(of: call), Set((self.oracle.callers[call] ?? [:]).keys))
            if known != devices {
                self.faults.append("the call \(call.seq) in \(call.conversation.rawValue) has \(known) instead of \(devices)")
            }
            if devices.isEmpty, changes.contains(where: { $0.call == call && $0.isDeparture }) { self.coverage.note(.emptiedCall) }
        }
    }

    // MARK: Forwards

    /// Reads the messages of a forward with the permissions of the user.
    func forward(_ action: Command.Action, _ originals: Originals, by user: UserKey) -> Command.Action {
        guard case .forward(let target, _, let isSilent) = action else { return action }
        var contents: [MessageContent] = []
        for seq in originals.seqs {
            let address = EventAddress(originals.conversation, seq)
            let content = self.content(of: address, for: user)
            if let fault = self.oracle.fault(ofForward: content, of: address, by: user) { self.faults.append(fault) }
            guard let content else {
                return .forward(target, .failure(ChatError(.notFound, message: "The message does not exist.")), isSilent: isSilent)
            }
            contents.append(content)
        }
        return .forward(target, .success(contents), isSilent: isSilent)
    }

    private func content(of address: EventAddress, for user: UserKey) -> MessageContent? {
        let reader = self.bug == .forwardUnseen ? self.oracle.founder(of: address.conversation) ?? user : user
        let view = self.storage.events(in: address.conversation, .from(address.seq), as: reader, limit: 1).first
        guard let row = view?.row, row.seq == address.seq, row.isMessage, !row.state.isBlank, row.kind != .call else { return nil }
        let isForwarded = Body.isForwarded(row.body)
        let body = Body.forwarded(row.body, from: isForwarded ? nil : self.oracle.name(of: row.sender)?.rawValue)
        return MessageContent(
            kind: row.kind, body: body, options: row.kind == .poll ? row.votes.count : 0, allowsManyVotes: row.allowsManyVotes,
            hidesVoters: row.hidesVoters)
    }
}

extension CallChange {
    var isDeparture: Bool {
        switch self.event {
        case .left, .departed: true
        case .state: false
        }
    }
}

extension CallWatch.Action {
    fileprivate var call: (Int64, Int64) {
        switch self {
        case .startTimer(let call, _), .cancelTimer(let call), .report(let call, _): (call.conversation.rawValue, call.seq)
        }
    }
}
