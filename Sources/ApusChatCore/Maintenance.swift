import ApusChatProtocol
package import ApusChatStorage

/// Creates the commands of the server: removal of expired messages, sending of scheduled messages,
/// ends of polls, and erasure of deleted data.
///
/// The shell calls `next` periodically and submits the commands. It calls `next` again immediately
/// while there are commands. All work is found in the storage, so that after a restart at most one
/// page is repeated.
///
/// If a command could not be written, the shell calls `refused`, and does not submit the commands
/// for which `isPostponed` is then true. The work is repeated after a time that increases with each
/// refusal, and the other work continues.
package struct Maintenance: Sendable {
    /// The time after which a refused command is first repeated, in milliseconds. It doubles with
    /// each further refusal.
    package static let firstDelay: Int64 = 1_000
    package static let longestDelay: Int64 = 60_000
    /// The maximum number of postponed units of work.
    package static let maximumPostponed = 1_000
    /// The time after which the record of a refusal is removed if its work does not become due
    /// again, in milliseconds. In this case, the work was done or withdrawn.
    private static let recordTime: Int64 = 600_000

    /// A unit of work, which one or more commands perform. The refusal of one of them postpones the
    /// unit.
    private enum Work: Hashable, Sendable {
        case scheduled(ScheduledAddress)
        case poll(EventAddress)
        case expired(EventAddress)
        case conversation(ConversationKey)
        case account(UserKey)
    }

    private struct Refusals: Sendable {
        var count = 0
        /// The time from which the work is due again.
        var until: Int64
    }

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
    /// The position before the last page.
    private var erasureBefore: Erasure?
    /// The refusals of work that is not part of the last page.
    private var postponed: [Work: Refusals] = [:]
    /// The refusals of work that is part of the last page.
    private var repeated: [Work: Refusals] = [:]
    /// The work of each command of the last page.
    private var issued: [[Work]] = []

    package init(pageLimit: Int = 200) { self.pageLimit = max(1, pageLimit) }

    /// Returns the next commands. Empty if nothing is due.
    ///
    /// - Parameters:
    ///   - time: The current time of a trusted clock (`StampClock.isTrusted`).
    ///   - send: A function that validates the body of a scheduled message as if it were sent now.
    package mutating func next(_ reads: any ChatReads, at time: Int64, send: (ScheduledRow) -> SendCommand) throws(StorageError)
        -> [Command]
    {
        self.begin(at: time)
        var commands: [Command] = []
        // The reads also return postponed rows, so the limits include them.
        let others = self.postponed.count
        let limit = self.pageLimit + others
        for row in self.due(try reads.dueScheduled(at: time, limit: limit), at: time, { .scheduled($0.address) }) {
            let command = Command(
                actor: row.address.user, device: DeviceKey(0), request: nil, action: .sendScheduled(row.address, send(row)))
            self.add(command, [.scheduled(row.address)], to: &commands)
        }
        for poll in self.due(try reads.endedPolls(at: time, limit: limit), at: time, { .poll($0) }) {
            self.add(Self.command(.closePoll(poll)), [.poll(poll)], to: &commands)
        }
        self.addExpired(self.due(try reads.expired(at: time, limit: limit), at: time, { .expired($0) }), to: &commands)
        if let conversation = self.due(try reads.deletedConversations(limit: 1 + others), at: time, { .conversation($0) }).first {
            for command in try self.erase(conversation, reads) { self.add(command, [.conversation(conversation)], to: &commands) }
        }
        if let user = self.due(try reads.deletedAccounts(limit: 1 + others), at: time, { .account($0) }).first {
            for command in try self.eraseAccount(user, reads) { self.add(command, [.account(user)], to: &commands) }
        } else {
            self.erasure = nil
        }
        return commands
    }

    /// Postpones the work of a command that was not written.
    ///
    /// - Parameters:
    ///   - index: The index of the command in the last page.
    ///   - time: The current time, as for `next`.
    /// - Returns: False if too much work is postponed already. The next page then contains the
    ///   command again, so the shell waits before it calls `next`.
    package mutating func refused(_ index: Int, at time: Int64) -> Bool {
        guard self.issued.indices.contains(index) else { return true }
        self.restorePosition(index)
        for work in self.issued[index] {
            guard self.postponed.count < Self.maximumPostponed else { return false }
            let count = (self.repeated.removeValue(forKey: work)?.count ?? 0) + 1
            // Six doublings exceed the longest delay.
            let delay = min(Self.firstDelay << min(Int64(count) - 1, 6), Self.longestDelay)
            self.postponed[work] = Refusals(count: count, until: time + delay)
        }
        return true
    }

    /// Whether a command of the last page must not be submitted, because an earlier command for the
    /// same work was refused.
    package func isPostponed(_ index: Int) -> Bool {
        self.issued.indices.contains(index) && self.issued[index].contains { self.postponed[$0] != nil }
    }

    /// Restores the state from before a command of the last page that was not submitted.
    package mutating func withdrew(_ index: Int) {
        guard self.issued.indices.contains(index) else { return }
        self.restorePosition(index)
        for work in self.issued[index] {
            if let refusals = self.repeated.removeValue(forKey: work) { self.postponed[work] = refusals }
        }
    }

    private mutating func restorePosition(_ index: Int) {
        for case .account in self.issued[index] { self.erasure = self.erasureBefore }
    }

    private mutating func begin(at time: Int64) {
        self.issued.removeAll(keepingCapacity: true)
        self.repeated.removeAll(keepingCapacity: true)
        self.erasureBefore = self.erasure
        if !self.postponed.isEmpty { self.postponed = self.postponed.filter { $0.value.until + Self.recordTime > time } }
    }

    /// Returns the rows of a page without those whose work is postponed.
    private func due<Row>(_ rows: [Row], at time: Int64, _ work: (Row) -> Work) -> ArraySlice<Row> {
        guard !self.postponed.isEmpty else { return rows.prefix(self.pageLimit) }
        return rows.filter { row in self.postponed[work(row)].map { $0.until <= time } ?? true }.prefix(self.pageLimit)
    }

    private mutating func add(_ command: Command, _ works: [Work], to commands: inout [Command]) {
        for work in works {
            if let refusals = self.postponed.removeValue(forKey: work) { self.repeated[work] = refusals }
        }
        self.issued.append(works)
        commands.append(command)
    }

    /// Adds one command for all expired messages, and one for each message that was part of a
    /// refused command. A message that cannot be written therefore delays no other message.
    private mutating func addExpired(_ expired: ArraySlice<EventAddress>, to commands: inout [Command]) {
        let page = expired.filter { self.postponed[.expired($0)] == nil }
        if !page.isEmpty { self.add(Self.command(.blank(page, .expired)), page.map { .expired($0) }, to: &commands) }
        for address in expired where self.postponed[.expired(address)] != nil {
            self.add(Self.command(.blank([address], .expired)), [.expired(address)], to: &commands)
        }
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
        // conversation. Therefore, all scheduled messages are removed before the erasure begins.
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
