import ApusChatProtocol

/// The part of a conversation's log that one member may see. Storages and pushes apply this view.
package struct MemberView: Sendable, Equatable {
    /// The first visible `seq`.
    package var first: Int64
    /// The last visible `seq`; `Int64.max` for a joined member.
    package var last: Int64
    /// The joined member; `UserKey(0)` for a former member.
    private var user = UserKey(0)
    /// The last `seq` before the member blocked the other user of the pair; 0 for no block. Later
    /// edits of the other user are not shown. Times are not compared, because the clock of the
    /// server can be set back.
    private var blockSeq: Int64 = 0

    /// Creates the view of a member. Returns nil if the user may not see events. An invited user
    /// sees only the title and the inviter. A user who is banned or has requested to join sees
    /// neither.
    package init?(_ member: MemberRow?) {
        guard let member else { return nil }
        switch member.state {
        case .joined:
            self.init(first: member.minSeq, last: .max)
            self.user = member.address.user
            self.blockSeq = member.blockSeq
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

    /// Returns an event as the member may see it; nil outside of the visible range.
    ///
    /// - Parameter isHidden: Returns whether the event with a `seq` is hidden from the member. It
    ///   is called for the event and, if the event is a change, for its target, because an edit
    ///   repeats the text of the target.
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
        let isChanged = self.blockSeq > 0 && row.sender != self.user && row.editSeq > self.blockSeq
        return EventView(seq: row.seq, n: row.n, row: isChanged ? row.firstForm : row)
    }

    /// Adds the member's annotations to an event. Removes the reactions and votes of a blocked
    /// user.
    package func attach(_ own: AnnotationRow?, to event: inout EventView) {
        guard event.row != nil else { return }
        event.own = own
        guard self.blockSeq > 0 else { return }
        event.row?.reactions = own?.reactions.map { ReactionCount(key: $0, count: 1) } ?? []
        // The totals of a vote include all users. Without the totals, the vote has no effect on the
        // shown poll.
        guard event.row?.kind != .vote else {
            event.row?.votes = []
            return
        }
        let votes = own?.votes ?? 0
        for option in event.row?.votes.indices ?? 0..<0 { event.row?.votes[option] = Int64((votes >> UInt64(option)) & 1) }
    }
}

/// One event as one member may see it.
package struct EventView: Sendable, Equatable {
    package var seq: Int64
    package var n: Int64
    /// The event, without content if it was removed. Nil if the event is hidden from the member. A
    /// hidden event is sent as an event of the kind `hidden`, so that the log has no gap.
    package var row: EventRow?
    /// The member's annotations of the event; nil if the member has not annotated it.
    package var own: AnnotationRow?

    package init(seq: Int64, n: Int64, row: EventRow?, own: AnnotationRow? = nil) {
        self.seq = seq
        self.n = n
        self.row = row
        self.own = own
    }
}
