import ApusChatProtocol

/// The part of a conversation's log that one member may see. Storages and pushes apply it.
package struct MemberView: Sendable, Equatable {
    /// The first visible `seq`.
    package var first: Int64
    /// The last visible `seq`; `Int64.max` for a joined member.
    package var last: Int64
    /// The member, if it is joined; otherwise `UserKey(0)`.
    private var user = UserKey(0)
    /// The time from which the member blocks the other user of the pair; 0 if it does not. Edits
    /// that the other user made after that time are not shown.
    private var blocksSince: Int64 = 0

    /// Creates the view of a member. Nil if the member may not see events: an invited user sees
    /// only the title and the inviter; a user that is banned or requested to join sees nothing.
    package init?(_ member: MemberRow?) {
        guard let member else { return nil }
        switch member.state {
        case .joined:
            self.init(first: member.minSeq, last: .max)
            self.user = member.address.user
            self.blocksSince = member.blocksPeerSince
        case .left, .removed:
            guard member.leftSeq >= member.minSeq else { return nil }
            self.init(first: member.minSeq, last: member.leftSeq)
        default: return nil
        }
    }

    package init(first: Int64, last: Int64) {
        self.first = first
        self.last = last
    }

    package func contains(_ seq: Int64) -> Bool { seq >= self.first && seq <= self.last }

    /// Returns an event in the form that the member may see; nil outside of the visible range.
    ///
    /// - Parameter isHidden: Whether the event with a `seq` is hidden from the member. Called for
    ///   the event and, if it is a change, for its target, because an edit repeats the text of its
    ///   target.
    package func view(of row: EventRow, isHidden: (Int64) -> Bool) -> EventView? {
        guard self.contains(row.seq) else { return nil }
        let concealsTarget = !row.isMessage && row.ref > 0 && (row.ref < self.first || isHidden(row.ref))
        if concealsTarget || isHidden(row.seq) {
            return EventView(seq: row.seq, n: row.n, row: nil)
        }
        guard !row.state.isBlank else {
            var blank = row
            blank.blank(row.state)
            return EventView(seq: row.seq, n: row.n, row: blank)
        }
        let isChanged = self.blocksSince > 0 && row.sender != self.user && row.editedAt > self.blocksSince
        return EventView(seq: row.seq, n: row.n, row: isChanged ? row.firstForm : row)
    }

    /// Adds the member's annotations to an event. Reactions and votes of a blocked user are not
    /// shown.
    package func attach(_ own: AnnotationRow?, to event: inout EventView) {
        guard event.row != nil else { return }
        event.own = own
        guard self.blocksSince > 0 else { return }
        event.row?.reactions = own?.reactions.map { ReactionCount(key: $0, count: 1) } ?? []
        // The totals of a vote are those of all users. Without them, the vote has no effect on the
        // poll.
        guard event.row?.kind != .vote else {
            event.row?.votes = []
            return
        }
        let votes = own?.votes ?? 0
        for option in event.row?.votes.indices ?? 0..<0 { event.row?.votes[option] = Int64((votes >> UInt64(option)) & 1) }
    }
}

/// One event in the form that one member may see.
package struct EventView: Sendable, Equatable {
    package var seq: Int64
    package var n: Int64
    /// The event, without content if it was removed. Nil if the event is hidden from the member; it
    /// is then sent as an event of the kind `hidden`, so that the log has no gap.
    package var row: EventRow?
    /// The member's annotations of the event.
    package var own: AnnotationRow?

    package init(seq: Int64, n: Int64, row: EventRow?, own: AnnotationRow? = nil) {
        self.seq = seq
        self.n = n
        self.row = row
        self.own = own
    }
}
