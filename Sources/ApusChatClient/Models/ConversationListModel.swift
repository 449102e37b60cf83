import ApusChatCore
public import ApusChatProtocol
import ApusEventLoop
public import Observation

/// A model of the list of conversations, for a view.
///
/// ```swift
/// List(model.conversations, id: \.conversation) { head in Text(model.title(of: head)) }
/// ```
@MainActor @Observable
public final class ConversationListModel {
    /// The conversations that the list shows.
    public enum Filter: Hashable, Sendable {
        /// All conversations that are not archived.
        case all
        /// Conversations that have unread messages or are marked as unread, and are not archived.
        case unread
        /// Conversations with one other user that are not archived.
        case people
        /// Groups and channels that are not archived.
        case groups
        /// The conversations of a folder of the user.
        case folder(String)
        /// The archived conversations.
        case archived
    }

    /// The pinned conversations, in the order of pinning, then the others, newest first.
    public private(set) var conversations: [ChatHead] = []
    /// The unanswered invitations to the user, and the pending requests of the user to join, newest
    /// first.
    public private(set) var invitations: [ChatHead] = []
    /// The state of the connection.
    public private(set) var connection: ChatConnectionState = .connecting
    /// The number of unread messages in conversations that are neither muted nor archived.
    public private(set) var badge: Int64 = 0
    /// The filter of ``conversations``. Default: ``Filter/all``.
    public var filter: Filter = .all {
        didSet { if self.filter != oldValue { self.arrange() } }
    }

    /// The contacts, whose aliases are shown instead of their names.
    private var contacts = ContactBook()
    private let client: ChatClient
    @ObservationIgnored private var heads: [ConversationID: ChatHead] = [:]
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates an empty list, which ``start()`` fills.
    ///
    /// - Parameter client: The client whose conversations are listed.
    public init(client: ChatClient) { self.client = client }

    // The model has no `stop()`: its release ends the task that waits for updates.
    deinit { self.task?.cancel() }

    /// Reads the conversations from the store, and updates the list until the model is released.
    public func start() async {
        guard self.task == nil else { return }
        let updates = self.client.updates(bufferingPolicy: .bufferingNewest(4_096))
        self.task = Task { [weak self] in
            for await update in updates { await self?.take(update) }
        }
        self.connection = await self.client.state
        await self.reload()
    }

    private func reload() async {
        self.contacts = await self.client.engine.contacts
        self.heads = Dictionary(await self.client.heads.map { ($0.conversation, $0) }, uniquingKeysWith: { $1 })
        self.arrange()
    }

    private func take(_ update: ChatUpdate) async {
        switch update {
        case .connection(let state): self.connection = state
        case .heads(let heads):
            for head in heads { self.heads[head.conversation] = head }
            self.arrange()
        case .gone(let conversations):
            for conversation in conversations { self.heads[conversation] = nil }
            self.arrange()
        case .reset, .missed: await self.reload()
        case .users:
            let contacts = await self.client.engine.contacts
            if contacts != self.contacts { self.contacts = contacts }
        case .messages, .gap, .outgoing, .discarded, .receipts, .typing, .contact, .device, .storeFailed: break
        }
    }

    private func arrange() {
        let now = self.client.engine.environment.now()
        var shown: [ChatHead] = []
        var invitations: [ChatHead] = []
        var badge: Int64 = 0
        for stored in self.heads.values {
            let head = stored.expired(at: self.client.store.now())
            if head.state == .invited || head.state == .requested {
                invitations.append(head)
                continue
            }
            guard head.state != .banned, head.state != .unknown else { continue }
            if !head.own.isArchived, head.own.mutedUntil ?? 0 <= now { badge += head.unread }
            if self.shows(head) { shown.append(head) }
        }
        shown.sort(by: Self.isBefore)
        invitations.sort(by: Self.isBefore)
        // An assignment of an equal list would make the view draw it again.
        if self.conversations != shown { self.conversations = shown }
        if self.invitations != invitations { self.invitations = invitations }
        if self.badge != badge { self.badge = badge }
    }

    private func shows(_ head: ChatHead) -> Bool {
        switch self.filter {
        case .archived: head.own.isArchived
        case .all: !head.own.isArchived
        case .unread: !head.own.isArchived && (head.unread > 0 || head.own.isMarkedUnread)
        case .people: !head.own.isArchived && head.kind == .pair
        case .groups: !head.own.isArchived && (head.kind == .group || head.kind == .channel)
        case .folder(let name): head.own.folders.contains(name)
        }
    }

    private static func isBefore(_ left: ChatHead, _ right: ChatHead) -> Bool {
        switch (left.own.pinnedAt, right.own.pinnedAt) {
        case (let left?, let right?) where left != right: left < right
        case (_?, nil): true
        case (nil, _?): false
        default: left.at == right.at ? left.conversation < right.conversation : left.at > right.at
        }
    }

    /// Returns the title of a conversation. The title of a pair is the alias, the shown name or the
    /// account name of the other user.
    ///
    /// - Parameter head: The conversation.
    public func title(of head: ChatHead) -> String {
        if let title = head.title { return title }
        guard let peer = head.peer else { return head.kind == .own ? self.client.user.rawValue : "" }
        if let alias = self.contacts[peer.name]?.alias, !alias.isEmpty { return alias }
        return peer.nick ?? peer.name.rawValue
    }

    /// Returns a contact whose name can be confused with the name of the other user of a pair, for
    /// a warning beside the title. Returns nil if no contact has a similar name.
    ///
    /// - Parameter head: The conversation.
    public func looksLike(_ head: ChatHead) -> UserName? { head.peer.flatMap { self.contacts.lookalike(of: $0) } }
}
