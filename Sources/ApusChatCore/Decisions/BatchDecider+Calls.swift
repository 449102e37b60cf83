package import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Calls in the log. Each call is one message, whose body changes with the state of the call.
extension BatchDecider {
    /// Starts a call, or returns the running call, which the client then accepts.
    mutating func startCall(
        in conversation: ConversationKey, _ media: CallMedia, _ offer: CallBackendOffer?, by command: Command
    ) throws(ChatError) -> StoredAnswer {
        let actor = command.actor
        let running = self.facts.conversations[conversation]?.counters.callSeq ?? 0
        _ = try self.authorize(running == 0 ? .call : .joinCall, actor, in: conversation)
        guard running == 0 else {
            return StoredAnswer(conversation: conversation, seq: running, n: 0, at: self.time)
        }
        let backend = try self.backend(in: conversation, offer)
        let answer = self.append(
            .call, to: conversation, by: actor, isMessage: true, body: Self.body(CallBody(media: media, state: .ringing, backend: backend)))
        self.countOwnMessage(n: answer.n, of: MemberAddress(conversation, actor))
        self.facts.conversations.modify(conversation) { $0.counters.callSeq = answer.seq }
        self.noteCall(
            EventAddress(conversation, answer.seq), .state(.ringing, joined: CallChange.Party(actor, command.device)),
            hasRoom: backend != nil)
        return answer
    }

    /// Returns the media server of a call; nil if the devices connect to each other.
    private func backend(in conversation: ConversationKey, _ offer: CallBackendOffer?) throws(ChatError) -> String? {
        guard let row = self.facts.conversations[conversation], row.kind != .pair, row.counters.memberCount > ChatLimits.meshDevices else {
            return nil
        }
        let maximum = offer == nil ? ChatLimits.callMembers : ChatLimits.roomMembers
        guard row.counters.memberCount <= maximum else {
            throw ChatError(.limit, message: "Groups of more than \(maximum) members have no calls.")
        }
        guard let offer else { return nil }
        guard offer.isSupported else { throw .needsBackend(offer.kind) }
        return offer.kind
    }

    /// Records a state of a call. The actor is a user of the call, or the server (`UserKey(0)`).
    mutating func updateCall(_ address: EventAddress, _ state: CallState, by command: Command) throws(ChatError) -> StoredAnswer {
        let actor = command.actor
        let isServer = actor == UserKey(0)
        // A member that may no longer call can still leave the call.
        if !isServer { _ = try self.authorize(state == .ended ? .leaveCall : .joinCall, actor, in: address.conversation) }
        let target: EventRow
        if isServer {
            guard let row = self.row(address), self.facts.conversations[address.conversation]?.counters.isDeleted == false else {
                throw .noMessage
            }
            target = row
        } else {
            target = try self.target(address, for: actor)
        }
        guard target.kind == .call, let body = Self.callBody(target.body) else {
            throw ChatError(.badRequest, message: "The message is not a call.", field: "call")
        }
        var call = CallMachine(state: body.state, changedAt: target.editedAt, isGroup: self.isGroup(address.conversation))
        let party: CallMachine.Party = isServer ? .server : actor == target.sender ? .caller : .callee
        let action = call.reported(state, by: party, at: self.time)
        let hasRoom = body.backend != nil
        guard case .record(let new, let duration) = action else {
            if action == .leave {
                self.noteCall(address, .left(command.device), hasRoom: hasRoom)
            } else if state == .accepted, call.state == .accepted, !isServer {
                self.noteCall(address, .state(.accepted, joined: CallChange.Party(actor, command.device)), hasRoom: hasRoom)
            }
            return self.unchanged(address.conversation)
        }
        self.noteCall(
            address, .state(new, joined: new == .accepted ? CallChange.Party(actor, command.device) : nil), hasRoom: hasRoom)
        let text = Self.body(CallBody(media: body.media, state: new, duration: duration, backend: body.backend))
        let (time, seq) = (self.time, self.lastSeq(of: address.conversation) + 1)
        self.modifyTarget(address) { row in
            row.body = text
            row.editedAt = time
            row.editSeq = seq
        }
        if call.isOver { self.endCall(address) }
        var change: JSONObject = ["state": .string(new.rawValue)]
        if let duration { change["duration"] = .integer(duration) }
        return self.append(
            .callUpdate, to: address.conversation, by: isServer ? target.sender : actor, ref: address.seq, body: ChangeBody.text(change))
    }

    /// Records that a call no longer runs.
    mutating func endCall(_ address: EventAddress) {
        guard self.facts.conversations[address.conversation]?.counters.callSeq == address.seq else { return }
        self.facts.conversations.modify(address.conversation) { $0.counters.callSeq = 0 }
    }

    /// Reports a change of a call to the watches of calls.
    mutating func noteCall(_ address: EventAddress, _ event: CallChange.Event, hasRoom: Bool = false) {
        self.calls.append(CallChange(call: address, event, isGroup: self.isGroup(address.conversation), hasRoom: hasRoom))
    }

    /// Reports that a user is no longer a member of the group in which a call runs.
    mutating func noteDeparture(of user: UserKey, from conversation: ConversationKey) {
        guard let call = self.facts.conversations[conversation]?.counters.callSeq, call > 0 else { return }
        self.noteCall(EventAddress(conversation, call), .departed(user))
    }

    /// Throws `conflict` if the removal of a message would end an accepted call of a group. A
    /// member must not end the call for the other members.
    func checkRemoval(of target: EventRow) throws(ChatError) {
        guard target.kind == .call, self.isGroup(target.conversation),
            self.facts.conversations[target.conversation]?.counters.callSeq == target.seq, Self.callBody(target.body)?.state == .accepted
        else { return }
        throw ChatError(.conflict, message: "The call is running. Recall its message after the call has ended.")
    }

    private func isGroup(_ conversation: ConversationKey) -> Bool { self.facts.conversations[conversation]?.kind != .pair }

    private static func callBody(_ text: String) -> CallBody? {
        guard let object = try? JSONValue(jsonString: text).objectValue else { return nil }
        return try? CallBody(from: WireReader(object))
    }

    private static func body(_ body: CallBody) -> String { ChangeBody.text(body.json.objectValue ?? [:]) }
}

extension ChatError {
    /// Returns the error for a client without the library of the media server that a call uses.
    package static func needsBackend(_ kind: String) -> ChatError {
        ChatError(.unsupported, message: "This call requires a client for \(kind).", field: "backends")
    }
}
