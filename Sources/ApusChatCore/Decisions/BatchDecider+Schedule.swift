import ApusChatProtocol
import ApusChatStorage

// Scheduled messages.
extension BatchDecider {
    mutating func schedule(_ schedule: ScheduleCommand, by command: Command) throws(ChatError) -> StoredAnswer {
        let (actor, conversation) = (command.actor, schedule.send.conversation)
        _ = try self.authorize(.send, actor, in: conversation)
        guard let request = command.request else { throw ChatError(.badRequest, message: "`id` is required.", field: "id") }
        let content = try schedule.send.content.get()
        try self.checkBlobs(content.blobs, of: actor)
        guard schedule.sendAt > self.time, schedule.sendAt - self.time <= Self.longestDelay else {
            throw ChatError(.badRequest, message: "`send_at` must be later than now, by at most one year.", field: "send_at")
        }
        let address = ScheduledAddress(actor, request.id)
        guard self.facts.scheduled[address] == nil else { throw .reusedID }
        let count = self.facts.scheduledCounts[actor] ?? 0
        guard count < ChatLimits.scheduledMessages else {
            throw ChatError(.limit, message: "An account has at most \(ChatLimits.scheduledMessages) scheduled messages. Remove one.")
        }
        var row = ScheduledRow(
            address: address, conversation: conversation, kind: schedule.kind, body: schedule.body, sendAt: schedule.sendAt,
            hash: request.hash)
        row.ref = schedule.send.ref
        row.thread = schedule.send.thread
        row.isSilent = schedule.send.isSilent
        self.facts.scheduled.set(address, row)
        self.facts.scheduledCounts[actor] = count + 1
        return self.unchanged(conversation)
    }

    private static let longestDelay: Int64 = 366 * 86_400_000

    mutating func unschedule(_ id: ClientID, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let address = ScheduledAddress(actor, id)
        guard let row = self.facts.scheduled[address] else {
            throw ChatError(.notFound, message: "There is no scheduled message with this id.")
        }
        self.removeScheduled(address)
        return self.unchanged(row.conversation)
    }

    /// Sends a scheduled message, and removes it from the schedule in the same batch. If the
    /// message is refused, the error is stored for the sender. After a temporary refusal, for
    /// example because of slow mode, the message is sent later.
    mutating func sendScheduled(_ address: ScheduledAddress, _ send: SendCommand, by command: Command) throws(ChatError) -> Decision {
        guard let row = self.facts.scheduled[address], row.failure.isEmpty, row.sendAt <= self.time, row.conversation == send.conversation
        else { return .accepted(self.unchanged(send.conversation)) }
        var message = command
        message.request = RequestIdentity(id: address.id, hash: row.hash)
        do throws(ChatError) {
            let decision = try self.send(send, by: message)
            self.removeScheduled(address)
            return decision
        } catch {
            let time = self.time
            self.facts.scheduled.modify(address) { row in
                if error.code.isTemporary {
                    row.sendAt = time + max(1_000, error.retryAfter ?? 60_000)
                } else {
                    row.failure = error.code.rawValue
                }
            }
            return .accepted(self.unchanged(send.conversation))
        }
    }

    private mutating func removeScheduled(_ address: ScheduledAddress) {
        self.facts.scheduled.remove(address)
        self.unscheduled.append(address)
        if let count = self.facts.scheduledCounts[address.user] { self.facts.scheduledCounts[address.user] = count - 1 }
    }
}
