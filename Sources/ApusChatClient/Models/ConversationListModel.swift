import ApusChatCore
public import ApusChatProtocol
public import Observation

/// The list of conversations, for a view.
///
/// ```swift
/// List(model.conversations, id: \.conversation) { head in Text(model.title(of: head)) }
/// ```
@MainActor @Observable
public final class ConversationListModel {
    /// Which conversations the list shows.
    public enum Filter: Hashable, Sendable {
        /// All that are not archived.
        case all
        /// Those with unread messages.
        case unread
        /// Conversations with one other user.
        case people
        /// Groups and channels.
        case groups
        /// The conversations of a folder of the user.
        case folder(String)
        /// The archived ones.
        case archived
    }

    /// The pinned conversations, in the order of pinning, then the others, newest first.
    public private(set) var conversations: [ChatHead] = []
    /// The invitations and requests that wait for an answer, newest first.
    public private(set) var invitations: [ChatHead] = []
    /// The state of the connection.
    public private(set) var connection: ChatConnectionState = .connecting
    /// The number of unread messages in conversations that are neither muted nor archived.
    public private(set) var badge: Int64 = 0
    /// Which conversations the list shows.
    public var filter: Filter = .all {
        didSet { if self.filter != oldValue { self.arrange() } }
    }

    /// The contacts, whose aliases are shown instead of their names.
    private var contacts = ContactBook()
    private let client: ChatClient
    @ObservationIgnored private var heads: [ConversationID: ChatHead] = [:]
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates the list of a client. It is filled by ``start()``.
    public init(client: ChatClient) { self.client = client }

    deinit { self.task?.cancel() }

    /// Reads the store and follows the client until the model is released.
    public func start() async {
        guard self.task == nil else { return }
        let updates = self.client.updates
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
        case .reset: await self.reload()
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
        // Equal lists do not redraw a view.
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

    /// The title of a row: that of a group, the alias or shown name of the other user, or the
    /// account name.
    ///
    /// - Parameter head: The conversation.
    public func title(of head: ChatHead) -> String {
        if let title = head.title { return title }
        guard let peer = head.peer else { return head.kind == .own ? self.client.user.rawValue : "" }
        if let alias = self.contacts[peer.name]?.alias, !alias.isEmpty { return alias }
        return peer.nick ?? peer.name.rawValue
    }

    /// The contact whose name the other user of a pair imitates, for a mark beside the title; nil
    /// if there is none.
    ///
    /// - Parameter head: The conversation.
    public func looksLike(_ head: ChatHead) -> UserName? { head.peer.flatMap { self.contacts.lookalike(of: $0) } }
}
