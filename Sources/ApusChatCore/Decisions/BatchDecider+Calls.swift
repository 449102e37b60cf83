import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Calls in the log: one message a call, whose body changes with the state of the call.
extension BatchDecider {
    /// Begins a call, or returns the one that takes place: two calls that cross become one.
    mutating func startCall(in conversation: ConversationKey, _ media: CallMedia, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.call, actor, in: conversation)
        let running = self.facts.conversations[conversation]?.counters.callSeq ?? 0
        guard running == 0 else {
            return StoredAnswer(conversation: conversation, seq: running, n: 0, at: self.time)
        }
        let answer = self.append(
            .call, to: conversation, by: actor, isMessage: true, body: Self.body(CallBody(media: media, state: .ringing)))
        self.countOwnMessage(n: answer.n, of: MemberAddress(conversation, actor))
        self.facts.conversations.modify(conversation) { $0.counters.callSeq = answer.seq }
        return answer
    }

    /// Records a state of a call. The actor is a party, or the server (key 0) when a ring ends.
    mutating func updateCall(_ address: EventAddress, _ state: CallState, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let isServer = actor == UserKey(0)
        if !isServer { _ = try self.authorize(.call, actor, in: address.conversation) }
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
        let isGroup = self.facts.conversations[address.conversation]?.kind != .pair
        var call = CallMachine(state: body.state, changedAt: target.editedAt, isGroup: isGroup)
        let party: CallMachine.Party = isServer ? .server : actor == target.sender ? .caller : .callee
        guard case .record(let new, let duration) = call.reported(state, by: party, at: self.time) else {
            return self.unchanged(address.conversation)
        }
        let text = Self.body(CallBody(media: body.media, state: new, duration: duration))
        let time = self.time
        self.modifyTarget(address) { row in
            row.body = text
            row.editedAt = time
        }
        if call.isOver {
            self.facts.conversations.modify(address.conversation) { row in
                if row.counters.callSeq == address.seq { row.counters.callSeq = 0 }
            }
        }
        var change: JSONObject = ["state": .string(new.rawValue)]
        if let duration { change["duration"] = .integer(duration) }
        return self.append(
            .callUpdate, to: address.conversation, by: isServer ? target.sender : actor, ref: address.seq, body: ChangeBody.text(change))
    }

    private static func callBody(_ text: String) -> CallBody? {
        guard let object = try? JSONValue(jsonString: text).objectValue else { return nil }
        return try? CallBody(from: WireReader(object))
    }

    private static func body(_ body: CallBody) -> String { ChangeBody.text(body.json.objectValue ?? [:]) }
}
