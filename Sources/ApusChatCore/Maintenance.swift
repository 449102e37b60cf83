import ApusChatProtocol
package import ApusChatStorage

/// Creates the commands of the server: removal of expired messages, sending of scheduled messages,
/// ends of polls, and erasure of deleted data.
///
/// The shell calls `next` periodically, submits the commands, and calls it again immediately while
/// there are commands. All work is found in the storage, so that after a restart at most one page
/// is repeated. If a command could not be written, the shell continues with the value from before
/// that call of `next`, or an earlier one.
package struct Maintenance: Sendable {
    /// The position within the conversations of the account that is being erased.
    private struct Erasure: Sendable {
        let user: UserKey
        var conversation: ConversationKey?
        /// The `seq` of the last examined event; nil between two conversations.
        var seq: Int64?
    }

    /// The maximum number of events or members of one command.
    private let pageLimit: Int
    private var erasure: Erasure?

    package init(pageLimit: Int = 200) { self.pageLimit = max(1, pageLimit) }

    /// Returns the next commands. Empty if nothing is due.
    ///
    /// - Parameters:
    ///   - time: The current time of a trusted clock (`StampClock.isTrusted`).
    ///   - send: Validates the body of a scheduled message as if it were requested now.
    package mutating func next(_ reads: any ChatReads, at time: Int64, send: (ScheduledRow) -> SendCommand) throws(StorageError)
        -> [Command]
    {
        var commands: [Command] = []
        for row in try reads.dueScheduled(at: time, limit: self.pageLimit) {
            commands.append(
                Command(actor: row.address.user, device: DeviceKey(0), request: nil, action: .sendScheduled(row.address, send(row))))
        }
        for poll in try reads.endedPolls(at: time, limit: self.pageLimit) { commands.append(Self.command(.closePoll(poll))) }
        let expired = try reads.expired(at: time, limit: self.pageLimit)
        if !expired.isEmpty { commands.append(Self.command(.blank(expired, .expired))) }
        for conversation in try reads.deletedConversations(limit: 1) { commands += try self.erase(conversation, reads) }
        if let user = try reads.deletedAccounts(limit: 1).first {
            commands += try self.eraseAccount(user, reads)
        } else {
            self.erasure = nil
        }
        return commands
    }

    /// Erases the messages of a deleted conversation, and then its memberships. While memberships
    /// exist, the deletion is not finished.
    private func erase(_ conversation: ConversationKey, _ reads: any ChatReads) throws(StorageError) -> [Command] {
        let messages = try reads.events(of: conversation, before: .max, limit: self.pageLimit)
        if !messages.isEmpty { return [Self.command(.blank(messages, .erased))] }
        for states in [MemberStates.invited, .requested, .joined] {
            let members = try reads.members(of: conversation, in: states, after: nil, limit: self.pageLimit).members
            if !members.isEmpty { return [Self.command(.dismiss(conversation, members.map(\.address.user)))] }
        }
        return []
    }

    private mutating func eraseAccount(_ user: UserKey, _ reads: any ChatReads) throws(StorageError) -> [Command] {
        // A scheduled message that is sent during the erasure could follow the last page of its
        // conversation, so the erasure begins after the last one was removed.
        let scheduled = try reads.scheduled(of: user, limit: self.pageLimit)
        guard scheduled.isEmpty else {
            self.erasure = Erasure(user: user)
            return scheduled.map { Command(actor: user, device: DeviceKey(0), request: nil, action: .unschedule($0.address.id)) }
        }
        var erasure = self.erasure.flatMap { $0.user == user ? $0 : nil } ?? Erasure(user: user)
        defer { self.erasure = erasure }
        if erasure.seq == nil {
            guard let next = try reads.memberships(of: user, after: erasure.conversation, limit: 1).first else {
                erasure = Erasure(user: user)
                return [Self.command(.finishErasure(user))]
            }
            erasure.conversation = next
            erasure.seq = 0
        }
        guard let conversation = erasure.conversation else { return [] }
        let isOwn = try reads.head(of: user, in: conversation)?.conversation.kind == .own
        let page = try reads.events(
            of: conversation, by: user, after: erasure.seq ?? 0, changes: isOwn, limit: self.pageLimit)
        erasure.seq = page.next
        var commands: [Command] = []
        if !page.events.isEmpty { commands.append(Self.command(.blank(page.events, .erased))) }
        if page.next == nil, !isOwn {
            commands.append(Command(actor: user, device: DeviceKey(0), request: nil, action: .leave(conversation, forgets: true)))
        }
        // A page without messages of the user must not end the erasure, so the empty command
        // continues it.
        return commands.isEmpty ? [Self.command(.blank([], .erased))] : commands
    }

    private static func command(_ action: Command.Action) -> Command {
        Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: action)
    }
}
