import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// The data that the server may send to a user.
extension Oracle {
    /// The form in which a user may see an entry.
    enum Appearance: Equatable {
        /// The user sees neither the entry nor its position.
        case absent
        /// The user sees only the position.
        case hidden
        /// The user sees the position and the state, without the content.
        case blank
        case full
    }

    func appearance(of entry: Entry, in book: Book, to person: Person, _ user: UserKey) -> Appearance {
        guard let range = person.range(last: book.lastSeq), range.contains(entry.seq) else { return .absent }
        if entry.isHidden(from: user) { return .hidden }
        if entry.n == 0, entry.ref > 0, let target = book.index(of: entry.ref) {
            // A change of an entry that the user may not see is also hidden.
            if entry.ref < range.lowerBound || book.entries[target].isHidden(from: user) { return .hidden }
        }
        return entry.state.isBlank ? .blank : .full
    }

    /// Returns a description of the fault if the server sends a wrong event to a user; nil if the
    /// event is correct.
    func fault(of event: ChatEvent, in book: Book, to person: Person, _ user: UserKey) -> String? {
        guard event.conversation.number == book.key.rawValue, let index = book.index(of: event.seq) else {
            return "there is no event \(event.seq) in \(event.conversation)"
        }
        let entry = book.entries[index]
        guard (event.n ?? 0) == entry.n else { return "event \(event.seq) has the ordinal \(event.n ?? 0) instead of \(entry.n)" }
        switch self.appearance(of: entry, in: book, to: person, user) {
        case .absent: return "event \(event.seq) is outside of what the user may see"
        case .hidden: return event.kind == .hidden ? nil : "event \(event.seq) is hidden from the user and served as \(event.kind)"
        case .blank:
            guard event.state == entry.state else {
                return "event \(event.seq) is \(entry.state.rawValue) and served as \(event.state.rawValue)"
            }
            return event.body.isEmpty && event.reactions.isEmpty && event.votes.isEmpty
                ? nil : "event \(event.seq) is \(entry.state.rawValue) and served with content"
        case .full: return self.contentFault(of: event, entry, to: person, user)
        }
    }

    /// Compares an event with an entry whose content the user may see. The event must not contain
    /// edits, reactions and votes of a user whom the recipient blocks.
    func contentFault(of event: ChatEvent, _ entry: Entry, to person: Person, _ user: UserKey) -> String? {
        let isFirstForm = person.blockSeq > 0 && entry.sender != user && entry.editSeq > person.blockSeq
        let state = isFirstForm ? .normal : entry.state
        guard event.kind == entry.kind, event.state == state, event.id == entry.id, (event.ref ?? 0) == entry.ref else {
            return "event \(event.seq) is \(event.kind) \(event.state.rawValue) instead of \(entry.kind) \(state.rawValue)"
        }
        guard event.sender == self.name(of: entry.sender) else { return "event \(event.seq) has the wrong sender" }
        if let fault = self.textFault(
            of: event, isFirstForm ? entry.original : entry.text, title: isFirstForm ? entry.originalPreview : entry.preview)
        {
            return fault
        }
        let origin = (isFirstForm ? entry.firstOrigin : entry.origin).flatMap { self.name(of: $0) }?.rawValue ?? ""
        let sender = Self.string("sender", event.body["forwarded"]?.objectValue ?? [:])
        guard sender == origin else { return "event \(event.seq) is forwarded from '\(sender)' instead of '\(origin)'" }
        if let fault = self.callFault(of: event, entry) { return fault }
        guard (event.thread ?? 0) == entry.thread else {
            return "event \(event.seq) is in the thread \(event.thread ?? 0) instead of \(entry.thread)"
        }
        return self.countFault(of: event, entry, isBlocking: person.blockSeq > 0, user)
    }

    /// Compares the number of replies and the last reply with the log. A device can omit replies
    /// that are hidden from the user.
    ///
    /// - Parameter isStored: Whether a device has stored the event.
    func threadFault(of event: ChatEvent, in book: Book, _ user: UserKey, isStored: Bool) -> String? {
        guard event.kind.isMessage, !event.state.isBlank else { return nil }
        let replies = book.replies[event.seq] ?? []
        let seen = isStored ? replies.filter { book.index(of: $0).map { !book.entries[$0].isHidden(from: user) } ?? false } : replies
        let (count, last) = (event.replies?.count ?? 0, event.replies?.seq ?? 0)
        guard (Int64(seen.count)...Int64(replies.count)).contains(count) else {
            return "the thread of event \(event.seq) has \(count) replies instead of \(replies.count)"
        }
        guard last >= seen.last ?? 0, last <= replies.last ?? 0 else {
            return "the last reply to event \(event.seq) is \(last) instead of \(replies.last ?? 0)"
        }
        return nil
    }

    /// Compares the state and the duration of a call or of a call update with the entry.
    private func callFault(of event: ChatEvent, _ entry: Entry) -> String? {
        guard let call = entry.call else { return nil }
        let (state, duration) = (Self.string("state", event.body), event.body["duration"]?.intValue.map { Int64($0) })
        return state == call.state.rawValue && duration == call.duration
            ? nil
            : "event \(event.seq) shows a call that is \(state) (\(duration ?? -1)) instead of \(call.state.rawValue) (\(call.duration ?? -1))"
    }

    private func textFault(of event: ChatEvent, _ text: String, title: String) -> String? {
        switch event.kind.code {
        case .text:
            let shown = (Self.string("text", event.body), Self.string("title", event.body["preview"]?.objectValue ?? [:]))
            return shown == (text, title)
                ? nil : "event \(event.seq) has the text \(shown.0) (\(shown.1)) instead of \(text) (\(title))"
        case .edit: return self.difference(Self.string("text", event.body["body"]?.objectValue ?? [:]), text, event)
        case .preview: return self.difference(Self.string("title", event.body["preview"]?.objectValue ?? [:]), text, event)
        case .poll: return self.difference(Self.string("question", event.body), text, event)
        default: return nil
        }
    }

    private func difference(_ shown: String, _ text: String, _ event: ChatEvent) -> String? {
        shown == text ? nil : "event \(event.seq) has the text \(shown) instead of \(text)"
    }

    private static func string(_ name: String, _ body: JSONObject) -> String {
        if case .string(let text)? = body[name] { text } else { "" }
    }

    /// Compares the reactions and votes with the entry. The event must not contain those of a
    /// blocked user.
    private func countFault(of event: ChatEvent, _ entry: Entry, isBlocking: Bool, _ user: UserKey) -> String? {
        if !event.reactions.isEmpty || !entry.reactions.isEmpty {
            let reactions = entry.reactions.filter { !isBlocking || $0.user == user }
            guard
                Dictionary(reactions.map { ($0.key, Int64(1)) }, uniquingKeysWith: +)
                    == Dictionary(event.reactions.map { ($0.key, $0.count) }, uniquingKeysWith: +)
            else { return "event \(event.seq) has the reactions \(event.reactions) instead of \(reactions)" }
        }
        if let poll = entry.poll {
            let totals = poll.totals(of: isBlocking ? user : nil)
            guard event.votes == totals else { return "poll \(event.seq) has the votes \(event.votes) instead of \(totals)" }
            guard (event.body["closed"]?.boolValue ?? false) == poll.isClosed else {
                return "poll \(event.seq) is closed: \(!poll.isClosed) instead of \(poll.isClosed)"
            }
        }
        if entry.kind == .vote, !isBlocking, event.votes != entry.totals {
            return "vote \(event.seq) makes the votes \(event.votes) instead of \(entry.totals)"
        }
        return nil
    }

    /// Returns the number of unread messages of a user, and the number of unread messages that
    /// mention the user.
    func unread(of user: UserKey, in book: Book) -> (all: Int64, mentions: Int64) {
        guard let person = book.people[user], person.state == .joined else { return (0, 0) }
        let read = max(person.read, person.floor)
        var (all, mentions): (Int64, Int64) = (0, 0)
        for entry in book.entries.reversed() {
            if entry.n > 0, entry.n <= read { break }
            guard entry.n > 0, entry.sender != user, !entry.isHidden(from: user) else { continue }
            all += 1
            if entry.seq >= person.first, entry.mentionsAll || entry.mentions.contains(user) { mentions += 1 }
        }
        return (all, mentions)
    }

    /// Returns a description of the fault if the server sends a wrong head to a user; nil if the
    /// head is correct.
    func fault(of head: ChatHead, to user: UserKey, draft: String? = nil) -> String? {
        guard let book = self.books[ConversationKey(head.conversation.number)], let person = book.people[user], !person.isGone else {
            return "the user does not have the conversation \(head.conversation)"
        }
        guard head.state == person.state, head.role == person.role else {
            let (said, expected) = ("\(head.state.rawValue) \(head.role.rawValue)", "\(person.state.rawValue) \(person.role.rawValue)")
            return "the head of \(head.conversation) says \(said) instead of \(expected)"
        }
        guard let range = person.range(last: book.lastSeq) else {
            return head.unread == 0 ? nil : "the head of \(head.conversation) counts what the user may not see"
        }
        guard head.seq == range.upperBound, head.minSeq == range.lowerBound else {
            return "the head of \(head.conversation) says \(head.minSeq)...\(head.seq) instead of \(range)"
        }
        guard person.state == .joined else { return nil }
        let (all, mentions) = self.unread(of: user, in: book)
        guard head.unread == all else { return "the head of \(head.conversation) has \(head.unread) unread instead of \(all)" }
        guard head.mentions == mentions else {
            return "the head of \(head.conversation) has \(head.mentions) mentions instead of \(mentions)"
        }
        guard head.n == book.lastN, head.read == max(person.read, person.floor) else {
            return "the head of \(head.conversation) is read up to \(head.read) of \(head.n) instead of \(person.read) of \(book.lastN)"
        }
        if let draft, draft != person.draftBody(in: head.conversation) {
            return "the draft of \(head.conversation) is \(draft) instead of \(person.draft)"
        }
        let own = head.own
        guard (own.pinnedAt ?? 0 > 0) == person.isPinned, own.isArchived == person.isArchived,
            own.mutedUntil ?? 0 == person.mutedUntil, own.isMarkedUnread == person.isMarkedUnread
        else { return "the settings of \(head.conversation) are \(own)" }
        return nil
    }
}

extension Person {
    /// Returns the body of the event that stores the draft in the user's self conversation.
    fileprivate func draftBody(in conversation: ConversationID) -> String {
        self.draft.isEmpty ? "" : "{\"conv\":\"\(conversation)\",\"draft\":\(self.draft)}"
    }
}

extension Oracle {
    /// Returns a description of the fault if the server sends a wrong nudge to a user; nil if the
    /// nudge is correct.
    func fault(of nudge: HeadNudge, to user: UserKey) -> String? {
        guard let book = self.books[ConversationKey(nudge.conversation.number)], let person = book.people[user] else {
            return "there is no conversation \(nudge.conversation)"
        }
        guard person.state == .joined else { return nil }
        guard nudge.seq <= book.lastSeq, nudge.n <= book.lastN else { return "the end \(nudge.seq) of \(nudge.conversation) is ahead" }
        guard let last = nudge.last, let text = last.text, !text.isEmpty, let index = book.index(of: last.seq) else { return nil }
        let entry = book.entries[index]
        let appearance = self.appearance(of: entry, in: book, to: person, user)
        // Devices remove expired content themselves.
        if appearance == .full || appearance == .blank && entry.state == .expired { return nil }
        return "the end of \(nudge.conversation) shows event \(last.seq), which is \(appearance)"
    }
}
