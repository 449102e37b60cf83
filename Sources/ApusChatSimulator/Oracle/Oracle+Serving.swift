import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// What a user may be shown.
extension Oracle {
    /// How an entry looks to a user.
    enum Appearance: Equatable {
        /// The user sees neither the entry nor its place.
        case absent
        /// The place only.
        case hidden
        /// The place and the state, without content.
        case blank
        case full
    }

    func appearance(of entry: Entry, in book: Book, to user: UserKey) -> Appearance {
        guard let person = book.people[user], let range = person.range(last: book.lastSeq), range.contains(entry.seq) else {
            return .absent
        }
        if entry.isHidden(from: user) { return .hidden }
        if entry.n == 0, entry.ref > 0, let target = book.index(of: entry.ref) {
            // A change of what the user may not see tells of it.
            if entry.ref < range.lowerBound || book.entries[target].isHidden(from: user) { return .hidden }
        }
        return entry.state.isBlank ? .blank : .full
    }

    /// Returns what is wrong with an event that the server serves to a user now; nil if nothing is.
    func fault(of event: ChatEvent, to user: UserKey) -> String? {
        guard let book = self.books[ConversationKey(event.conversation.number)], let index = book.index(of: event.seq) else {
            return "there is no event \(event.seq) in \(event.conversation)"
        }
        let entry = book.entries[index]
        guard (event.n ?? 0) == entry.n else { return "event \(event.seq) has the ordinal \(event.n ?? 0) instead of \(entry.n)" }
        switch self.appearance(of: entry, in: book, to: user) {
        case .absent: return "event \(event.seq) is outside of what the user may see"
        case .hidden: return event.kind == .hidden ? nil : "event \(event.seq) is hidden from the user and served as \(event.kind)"
        case .blank:
            guard event.state == entry.state else {
                return "event \(event.seq) is \(entry.state.rawValue) and served as \(event.state.rawValue)"
            }
            return event.body.isEmpty && event.reactions.isEmpty
                ? nil : "event \(event.seq) is \(entry.state.rawValue) and served with content"
        case .full: return self.contentFault(of: event, self.shown(entry, in: book, to: user))
        }
    }

    /// The entry without what a user that is blocked changed in it.
    private func shown(_ entry: Entry, in book: Book, to user: UserKey) -> Entry {
        guard let since = book.people[user]?.blocksSince, since > 0 else { return entry }
        var shown = entry
        shown.reactions.removeAll { $0.user != user }
        if entry.sender != user, entry.editedAt > since {
            shown.text = entry.original
            shown.state = .normal
        }
        return shown
    }

    /// Compares an event with an entry that the user sees completely.
    func contentFault(of event: ChatEvent, _ entry: Entry) -> String? {
        guard event.kind == entry.kind, event.state == entry.state, event.id == entry.id, (event.ref ?? 0) == entry.ref else {
            return "event \(event.seq) is \(event.kind) \(event.state.rawValue) instead of \(entry.kind) \(entry.state.rawValue)"
        }
        guard event.sender == self.names[entry.sender] else { return "event \(event.seq) has the wrong sender" }
        guard
            Dictionary(entry.reactions.map { ($0.key, Int64(1)) }, uniquingKeysWith: +)
                == Dictionary(event.reactions.map { ($0.key, $0.count) }, uniquingKeysWith: +)
        else { return "event \(event.seq) has the reactions \(event.reactions) instead of \(entry.reactions)" }
        if let text = Self.text(of: event), text != entry.text { return "event \(event.seq) has the text \(text) instead of \(entry.text)" }
        return nil
    }

    /// The text of a message or of an edit. Nil for other events.
    static func text(of event: ChatEvent) -> String? {
        switch event.kind.code {
        case .text:
            if case .string(let text)? = event.body["text"] { return text }
            return ""
        case .edit:
            if case .object(let body)? = event.body["body"], case .string(let text)? = body["text"] { return text }
            return ""
        default: return nil
        }
    }

    /// The number of unread messages of a user, and of those that mention the user.
    func unread(of user: UserKey, in book: Book) -> (all: Int64, mentions: Int64) {
        guard let person = book.people[user], person.state == .joined else { return (0, 0) }
        let read = max(person.read, person.floor)
        var (all, mentions): (Int64, Int64) = (0, 0)
        for entry in book.entries where entry.n > read && entry.sender != user && !entry.isHidden(from: user) {
            all += 1
            if entry.seq >= person.first, entry.mentionsAll || entry.mentions.contains(user) { mentions += 1 }
        }
        return (all, mentions)
    }

    /// Returns what is wrong with a head that the server serves now; nil if nothing is.
    func fault(of head: ChatHead, to user: UserKey, draft: String? = nil) -> String? {
        guard let book = self.books[ConversationKey(head.conversation.number)], let person = book.people[user], !person.isGone else {
            return "the user does not have the conversation \(head.conversation)"
        }
        guard head.state == person.state, head.role == person.role else {
            return
                "the head of \(head.conversation) says \(head.state.rawValue) \(head.role.rawValue) instead of \(person.state.rawValue) \(person.role.rawValue)"
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
        if let draft, draft.contains("\"draft\"") != !person.draft.isEmpty || !draft.contains(person.draft) {
            return "the draft of \(head.conversation) is \(draft) instead of \(person.draft)"
        }
        return nil
    }
}
