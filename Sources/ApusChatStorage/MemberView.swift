import ApusChatProtocol

/// What one member may see of a conversation's log. Every storage and every push applies it.
package struct MemberView: Sendable, Equatable {
    /// The first visible seq.
    package var first: Int64
    /// The last visible seq; `Int64.max` for a joined member.
    package var last: Int64
    /// The member that blocks the other user of the pair, and since when, or 0. What the other one
    /// changed in a message since then is not shown.
    private var user = UserKey(0)
    private var blocksSince: Int64 = 0

    /// Creates the view of a member row. Nil if the row shows no events: an invited user sees the
    /// title and the inviter only, a banned one nothing.
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

    /// Returns the event as the member may see it. Nil outside the visible range.
    ///
    /// - Parameter isHidden: Whether the event with this seq is hidden from the member. Asked for
    ///   the event and, for a change, for its target: an edit of a hidden message repeats its text.
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

    /// Adds to an event what the member attached to it. Reactions and votes of a blocked user are
    /// not shown.
    package func attach(_ own: AnnotationRow?, to event: inout EventView) {
        guard event.row != nil else { return }
        event.own = own
        guard self.blocksSince > 0 else { return }
        event.row?.reactions = own?.reactions.map { ReactionCount(key: $0, count: 1) } ?? []
        let votes = own?.votes ?? 0
        for option in event.row?.votes.indices ?? 0..<0 { event.row?.votes[option] = Int64((votes >> UInt64(option)) & 1) }
    }
}

/// One event as one member may see it.
package struct EventView: Sendable, Equatable {
    package var seq: Int64
    package var n: Int64
    /// The event, blank if it lost its content. Nil if the event is hidden from the member, which
    /// is served as `hidden` so that the log has no hole.
    package var row: EventRow?
    /// What the member attached to the event.
    package var own: AnnotationRow?

    package init(seq: Int64, n: Int64, row: EventRow?, own: AnnotationRow? = nil) {
        self.seq = seq
        self.n = n
        self.row = row
        self.own = own
    }
}
