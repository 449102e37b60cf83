import ApusChatProtocol

/// One conversation of a `MemoryStorage`. This type is a class, so that a batch changes it in
/// place.
final class MemoryConversation {
    var row: ConversationRow
    /// The events. The event with `seq` `s` is at index `s - 1`.
    var events: [EventRow] = []
    var members: [UserKey: MemberRow] = [:]
    var annotations: [AnnotationKey: AnnotationRow] = [:]
    var sent: [SentKey: Int64] = [:]
    /// For each blob, the `seq` of each event that refers to it.
    var blobs: [BlobID: [Int64]] = [:]
    var pins: Set<Int64> = []

    struct AnnotationKey: Hashable {
        let seq: Int64
        let user: UserKey
    }
    struct SentKey: Hashable {
        let sender: UserKey
        let id: ClientID
    }

    init(row: ConversationRow) { self.row = row }

    func event(_ seq: Int64) -> EventRow? {
        guard seq >= 1, seq <= Int64(self.events.count) else { return nil }
        return self.events[Int(seq) - 1]
    }

    func isHidden(_ seq: Int64, from user: UserKey) -> Bool {
        !self.annotations.isEmpty && self.annotations[AnnotationKey(seq: seq, user: user)]?.isHidden ?? false
    }

    /// Appends the next event of the log.
    func append(_ event: EventRow) {
        if let id = event.clientID { self.sent[SentKey(sender: event.sender, id: id)] = event.seq }
        self.events.append(event)
        if event.isPinned { self.pins.insert(event.seq) }  // pinned by a later command of its batch
    }

    /// Replaces an event of the log, and updates the pins.
    func replace(_ event: EventRow) {
        guard self.event(event.seq) != nil else { return }
        self.events[Int(event.seq) - 1] = event
        if event.isPinned { self.pins.insert(event.seq) } else { self.pins.remove(event.seq) }
    }

    func blank(_ seq: Int64, _ state: EventState) {
        guard self.event(seq) != nil else { return }
        self.events[Int(seq) - 1].blank(state)
        self.pins.remove(seq)
        for index in Int(seq)..<max(Int(seq), self.events.count)
        where self.events[index].ref == seq && self.events[index].kind.repeatsContent {
            self.events[index].blank(state)
        }
        for (key, annotation) in self.annotations where key.seq == seq {
            var kept = annotation
            kept.reactions = []
            kept.votes = 0
            self.annotations[key] = kept.isEmpty ? nil : kept
        }
        for blob in self.blobs.keys { self.blobs[blob]?.removeAll { $0 == seq } }
    }

    /// Returns the joined members who cannot see an event, at most `Facts.maximumUnseen` + 1.
    func unseen(_ seq: Int64) -> [UserKey] {
        let members = self.members.values.filter { $0.state == .joined && ($0.minSeq > seq || self.isHidden(seq, from: $0.address.user)) }
        return Array(members.map(\.address.user).sorted().prefix(Facts.maximumUnseen + 1))
    }

    /// Returns the number of messages above an ordinal that the user sent or that are hidden from
    /// the user.
    func skipped(_ user: UserKey, above n: Int64) -> Int64 {
        var count: Int64 = 0
        // Accesses rows by their index, because a copy of a row increments several reference
        // counts.
        for index in self.events.indices.reversed() {
            let ordinal = self.events[index].n
            guard ordinal == 0 || ordinal > n else { break }
            if ordinal > 0, self.events[index].sender == user || self.isHidden(Int64(index) + 1, from: user) { count += 1 }
        }
        return count
    }

    /// Returns the number of messages above the read position that mention the user.
    func mentions(of member: MemberRow) -> Int64 {
        guard member.state == .joined else { return 0 }
        let user = member.address.user
        let read = max(member.readN, member.floorN)
        var count: Int64 = 0
        for index in self.events.indices.reversed() {
            let ordinal = self.events[index].n
            guard ordinal == 0 || ordinal > read else { break }
            guard ordinal > 0, self.events[index].sender != user,
                self.events[index].mentionsAll || self.events[index].mentions.contains(user)
            else { continue }
            let seq = Int64(index) + 1
            if seq >= member.minSeq, !self.isHidden(seq, from: user) { count += 1 }
        }
        return count
    }

    func view(_ seq: Int64, as view: MemberView, of user: UserKey) -> EventView? {
        // Accesses rows by their index, because a copy of a row increments several reference
        // counts.
        guard seq >= 1, seq <= Int64(self.events.count),
            var shown = view.view(of: self.events[Int(seq) - 1], isHidden: { self.isHidden($0, from: user) })
        else { return nil }
        view.attach(self.annotations[AnnotationKey(seq: seq, user: user)], to: &shown)
        return shown
    }

    func head(of user: UserKey) -> HeadRow? {
        guard var member = self.members[user] else { return nil }
        if self.row.counters.isDeleted {
            member.isGone = true
            return HeadRow(conversation: self.row, member: member, unread: 0, mentions: 0, last: nil)
        }
        var last: EventView?
        var pins: [Int64] = []
        if let view = MemberView(member) {
            last = self.view(min(self.row.counters.previewSeq, view.last), as: view, of: user)
            if !self.pins.isEmpty { pins = self.pins.filter { self.view($0, as: view, of: user)?.row?.isPinned ?? false }.sorted(by: >) }
        }
        var head = HeadRow(
            conversation: self.row, member: member, unread: member.unread(lastN: self.row.counters.lastN),
            mentions: self.mentions(of: member), last: last)
        head.pins = pins
        return head
    }
}
