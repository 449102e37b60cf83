import ApusChatProtocol

/// The position of a page of heads.
///
/// The first page contains the newest changes. If these are not all, the following pages contain
/// all conversations in the order of their ids. Ids do not change between two requests, so no
/// conversation is skipped.
enum HeadsPosition: Hashable, Sendable {
    /// Begins with the newest change.
    case newest
    /// Continues by id after this conversation; nil begins with the first.
    case all(after: ConversationID?)
}

/// The `page` of a `HeadsReply`, opaque to clients.
struct HeadsPageToken: Hashable, Sendable {
    /// The `at` of the first page, repeated on every page.
    var at: Int64
    var after: ConversationID?

    init(at: Int64, _ position: HeadsPosition) {
        self.at = at
        if case .all(let after) = position { self.after = after }
    }

    /// - Throws: `bad_request` for a text that is not a token.
    init(_ text: String) throws(ChatError) {
        let parts = text.utf8.count <= 100 ? text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) : []
        guard parts.count == 2, let at = Int64(parts[0]), at >= 0 else { throw Self.bad }
        self.at = at
        guard !parts[1].isEmpty else { return }
        guard let after = ConversationID(String(parts[1])) else { throw Self.bad }
        self.after = after
    }

    /// The token on the wire.
    var text: String { "\(self.at):\(self.after?.rawValue ?? "")" }

    private static let bad = ChatError(.badRequest, message: "`page` must be the `page` of the previous answer")
}
