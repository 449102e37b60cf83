import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Scheduled messages, and previews of links.
extension Oracle {
    func schedule(_ schedule: ScheduleCommand, _ command: Command, at time: Int64) throws(Refusal) -> Verdict {
        let (actor, key) = (command.actor, schedule.send.conversation)
        _ = try self.permit(.send, actor, key, at: time)
        guard let request = command.request else { throw Refusal(.badRequest) }
        guard schedule.sendAt > time, schedule.sendAt - time <= 366 * 86_400_000 else { throw Refusal(.badRequest) }
        let address = ScheduledAddress(actor, request.id)
        guard self.plans[address] == nil else { throw Refusal(.conflict) }
        guard self.plans.keys.filter({ $0.user == actor }).count < 100 else { throw Refusal(.limit) }
        self.plans[address] = Plan(
            conversation: key, text: Body.text(schedule.body), hash: request.hash, sendAt: schedule.sendAt)
        return .unchanged
    }

    /// Sends a scheduled message. If the message is added to the log, removes it from the schedule.
    /// If it is refused, stores the refusal with the message.
    func sendScheduled(_ address: ScheduledAddress, _ command: Command, at time: Int64) -> Verdict {
        guard let plan = self.plans[address], plan.failure.isEmpty, plan.sendAt <= time else { return .unchanged }
        var message = command
        message.request = RequestIdentity(id: address.id, hash: plan.hash)
        let content = MessageContent(kind: .text, body: Body.json(plan.text))
        do throws(Refusal) {
            let verdict = try self.send(SendCommand(conversation: plan.conversation, content: .success(content)), message, at: time)
            self.plans[address] = nil
            return verdict
        } catch {
            if let wait = error.retryAfter {
                self.plans[address]?.sendAt = time + max(1_000, wait)
            } else {
                self.plans[address]?.failure = error.code.rawValue
            }
            return .unchanged
        }
    }

    /// Adds a preview to a text, unless an edit or a recall has changed the text since the preview
    /// was requested.
    func setPreview(_ preview: PreviewCommand, at time: Int64) -> Verdict {
        guard let book = self.books[preview.target.conversation], let index = book.index(of: preview.target.seq) else { return .unchanged }
        let entry = book.entries[index]
        guard !entry.state.isBlank, entry.text == Body.text(preview.before), entry.preview.isEmpty else { return .unchanged }
        let title = Body.title(preview.after)
        entry.preview = title
        entry.changedBy = book.lastSeq + 1
        return self.append(.preview, to: book, by: entry.sender, at: time, ref: entry.seq, text: title)
    }

    /// Removes the preview of a text. The sender may remove the preview as long as the text can be
    /// edited.
    func removePreview(_ address: EventAddress, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.removePreview, actor, address.conversation, at: time)
        let entry = book.entries[try self.target(address.seq, of: actor, in: book)]
        guard entry.sender == actor else { throw Refusal(.forbidden) }
        guard time - entry.at <= self.rules.editMilliseconds else { throw Refusal(.tooLate) }
        guard !entry.preview.isEmpty else { return .unchanged }
        entry.preview = ""
        entry.changedBy = book.lastSeq + 1
        return self.append(.preview, to: book, by: actor, at: time, ref: entry.seq)
    }
}
