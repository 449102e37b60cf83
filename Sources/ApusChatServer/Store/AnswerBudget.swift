import ApusChatProtocol
import ApusJSON

/// The remaining bytes of an answer (`ChatLimits.answerBytes`) while its list is assembled.
///
/// Counts an upper bound of the encoded size. Only bodies of events are encoded for it.
struct AnswerBudget {
    /// The size of the packet and of the fields other than the list.
    private static let envelope = 2_048

    private(set) var rest = ChatLimits.answerBytes - Self.envelope

    /// Reserves the bytes of one element. Returns `false`, and reserves nothing, if it does not
    /// fit.
    mutating func take(_ head: ChatHead) -> Bool { self.take(Self.bytes(of: head)) }
    mutating func take(_ event: ChatEvent) -> Bool { self.take(Self.bytes(of: event)) }
    mutating func take(_ user: ChatUser) -> Bool { self.take(Self.bytes(of: user)) }

    private mutating func take(_ bytes: Int) -> Bool {
        guard bytes <= self.rest else { return false }
        self.rest -= bytes
        return true
    }

    // The constants cover field names, punctuation and numbers of 20 digits. The server's
    // identifiers need no escapes. Names, titles and client ids contain no control characters, so
    // an escape at most doubles a byte.

    static func bytes(of head: ChatHead) -> Int {
        let members = head.members.reduce(0) { $0 + 64 + $1.user.rawValue.utf8.count + 2 * $1.role.rawValue.utf8.count }
        return 320 + head.conv.rawValue.utf8.count + 2 * head.kind.rawValue.utf8.count + 2 * (head.title?.utf8.count ?? 0) + members
            + (head.last.map { self.bytes(of: $0) } ?? 0)
    }

    static func bytes(of event: ChatEvent) -> Int {
        let ids = event.conv.rawValue.utf8.count + event.sender.rawValue.utf8.count + 2 * event.id.rawValue.utf8.count
        // An answer with a body that cannot be encoded fails later.
        let body = (try? JSONWriter.bytes(of: event.body).count) ?? 0
        return 192 + ids + 2 * event.kind.rawValue.utf8.count + body
    }

    static func bytes(of user: ChatUser) -> Int {
        64 + user.id.rawValue.utf8.count + 2 * user.name.utf8.count + 2 * user.display.utf8.count
    }
}
