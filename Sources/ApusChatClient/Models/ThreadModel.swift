public import ApusChatProtocol
import ApusEventLoop
public import Observation

/// A model of the messages of a conversation or of a thread, for a view: a window of consecutive
/// rows, followed by the unsent messages.
///
/// The window has at most ``maximumRows`` rows, so that the memory of a long conversation is
/// bounded. Rows outside of it are loaded again when the user scrolls to them.
@MainActor @Observable
public final class ThreadModel {
    /// The rows of the window, oldest first. If the window reaches the end of the log, the messages
    /// in ``unsent`` follow.
    public var rows: [ChatMessage] { self.hasLater ? self.messages : self.messages + self.unsent }
    /// The rows of the window that are in the log, oldest first.
    public private(set) var messages: [ChatMessage] = []
    /// The messages of the user that the stored log does not contain, in the order in which they
    /// were written.
    public private(set) var unsent: [ChatMessage] = []
    /// Whether there are rows before the window.
    public private(set) var hasEarlier = false
    /// Whether there are rows after the window.
    public private(set) var hasLater = false
    /// The position of the first unread message when the model was opened, for a separator line
    /// above the message. Nil if no message was unread, or if the position could not be determined.
    public private(set) var firstUnread: Int64?
    /// The summary of the conversation; nil before the model is opened.
    public private(set) var head: ChatHead?
    /// The members who are writing now.
    public private(set) var typing: [UserName] = []
    /// Whether a page is being loaded.
    public private(set) var isLoading = false
    /// The error of the last request; nil if it succeeded.
    public private(set) var error: ChatClientError?

    /// The conversation.
    public let conversation: ChatConversation
    /// The position of the message that began the thread; nil if the model shows the whole
    /// conversation.
    public let thread: Int64?
    /// The number of rows that one load adds.
    public let pageSize: Int
    /// The maximum number of rows of the window.
    public let maximumRows: Int

    private let client: ChatClient
    @ObservationIgnored private var task: Task<Void, Never>?
    /// Whether the store has discarded its data. The rows are loaded again after the head of the
    /// conversation has arrived.
    @ObservationIgnored private var isReset = false
    /// The number of loads that have begun.
    @ObservationIgnored private var generation = 0
    @ObservationIgnored private var typingDeadlines: [UserName: Task<Void, Never>] = [:]
    /// The time after which a member no longer counts as writing, unless another notification
    /// arrives.
    private static let typingTime: Duration = .seconds(6)

    /// Creates a model without rows, which ``open()`` fills.
    ///
    /// - Parameters:
    ///   - client: The client that reads the messages.
    ///   - conversation: The conversation.
    ///   - thread: The position of the message that began a thread, to show only this message and
    ///     its replies. Default: none.
    ///   - pageSize: The number of rows that one load adds. Default: 50.
    ///   - maximumRows: The maximum number of rows of the window. Default: 400; at least two pages.
    public init(client: ChatClient, conversation: ConversationID, thread: Int64? = nil, pageSize: Int = 50, maximumRows: Int = 400) {
        self.client = client
        self.thread = thread
        self.conversation = client.conversation(conversation)
        self.pageSize = max(1, pageSize)
        self.maximumRows = max(maximumRows, 2 * self.pageSize)
    }

    // Not every view can call `close()` when it disappears. The tasks reference the model weakly,
    // and `deinit` cancels them. The model has no data to store.
    deinit {
        self.task?.cancel()
        for deadline in self.typingDeadlines.values { deadline.cancel() }
    }

    // MARK: Opening

    /// Loads the rows at the first unread message, or the newest rows if all are read or the model
    /// shows a thread. Follows the client until ``close()`` or the release of the model.
    public func open() async {
        guard self.task == nil else { return }
        let updates = self.client.updates(bufferingPolicy: .bufferingNewest(4_096))
        self.task = Task { [weak self] in
            for await update in updates { await self?.take(update) }
        }
        await self.conversation.didOpen()
        self.head = try? await self.conversation.head
        self.unsent = ((try? await self.conversation.unsent) ?? []).filter(self.isInThread)
        guard self.thread == nil else { return await self.jumpToEnd() }
        self.firstUnread = (try? await self.conversation.firstUnread) ?? nil
        if let firstUnread { await self.jump(to: firstUnread) } else { await self.jumpToEnd() }
    }

    /// Stops receiving updates from the client.
    public func close() async {
        self.task?.cancel()
        self.task = nil
        await self.conversation.didClose()
    }

    // MARK: Pages

    /// Loads the rows before the window.
    public func loadEarlier() async {
        guard self.hasEarlier, let first = self.messages.first?.event.seq else { return }
        await self.load { model, isCurrent throws(ChatClientError) in
            let page = try await model.earlier(before: first)
            guard isCurrent(), model.messages.first?.event.seq == first else { return }
            model.messages = page.messages + model.messages
            model.hasEarlier = page.hasEarlier
            if model.messages.count > model.maximumRows {
                model.messages.removeLast(model.messages.count - model.maximumRows)
                model.hasLater = true
            }
        }
    }

    /// Loads the rows after the window.
    public func loadLater() async {
        guard self.hasLater, let last = self.messages.last?.event.seq else { return }
        await self.load { model, isCurrent throws(ChatClientError) in
            let page = try await model.later(after: last)
            guard isCurrent(), model.messages.last?.event.seq == last else { return }
            model.messages += page.messages
            model.hasLater = page.hasLater
            if model.messages.count > model.maximumRows {
                model.messages.removeFirst(model.messages.count - model.maximumRows)
                model.hasEarlier = true
            }
        }
    }

    private func earlier(before seq: Int64?) async throws(ChatClientError) -> ThreadPage {
        guard let thread else { return try await self.conversation.messages(before: seq, limit: self.pageSize) }
        return try await self.conversation.replies(to: thread, before: seq, limit: self.pageSize)
    }

    private func later(after seq: Int64) async throws(ChatClientError) -> ThreadPage {
        guard let thread else { return try await self.conversation.messages(after: seq, limit: self.pageSize) }
        return try await self.conversation.replies(to: thread, after: seq, limit: self.pageSize)
    }

    /// Returns whether a message belongs to the thread of the model; true for each message if the
    /// model shows the whole conversation.
    private func isInThread(_ message: ChatMessage) -> Bool {
        guard let thread else { return true }
        return message.event.thread == thread || message.event.seq == thread
    }

    /// Replaces the window with the rows around a message.
    ///
    /// - Parameter seq: The position of the message in the log.
    public func jump(to seq: Int64) async {
        await self.load(supersedes: true) { model, isCurrent throws(ChatClientError) in
            let page =
                model.thread == nil
                ? try await model.conversation.messages(around: seq, limit: model.pageSize) : try await model.later(after: seq - 1)
            if isCurrent() { model.show(page) }
        }
    }

    /// Replaces the window with the newest rows: first with the stored rows, then with the newest
    /// rows of the server.
    public func jumpToEnd() async {
        await self.load(supersedes: true) { model, isCurrent throws(ChatClientError) in
            if model.thread == nil {
                let stored = try await model.conversation.storedMessages(limit: model.pageSize)
                guard isCurrent() else { return }
                model.show(stored)
                guard model.messages.count < model.pageSize, model.hasEarlier || model.messages.isEmpty else { return }
            }
            let page = try await model.earlier(before: nil)
            if isCurrent() { model.show(page) }
        }
    }

    private func show(_ page: ThreadPage) {
        self.messages = page.messages
        self.hasEarlier = page.hasEarlier
        self.hasLater = page.hasLater
    }

    /// Loads rows, unless others are being loaded.
    ///
    /// - Parameters:
    ///   - supersedes: Whether the rows replace the window. The result of an earlier load, which
    ///     the server may answer late, is then discarded.
    ///   - body: The load. Its second argument returns whether no later load has superseded it.
    private func load(
        supersedes: Bool = false, _ body: (ThreadModel, @MainActor () -> Bool) async throws(ChatClientError) -> Void
    ) async {
        guard supersedes || !self.isLoading else { return }
        self.generation += 1
        let generation = self.generation
        self.isLoading = true
        var failure: ChatClientError?
        do throws(ChatClientError) { try await body(self) { self.generation == generation } } catch { failure = error }
        guard self.generation == generation else { return }
        self.isLoading = false
        self.error = failure
    }

    /// Moves the read position forward to a row that the user sees. Has no effect if the model
    /// shows a thread, because the messages between the replies are not shown.
    ///
    /// - Parameter message: The row.
    public func didShow(_ message: ChatMessage) async {
        guard self.thread == nil, !message.isOwn, let n = message.event.n, n > self.head?.read ?? 0 else { return }
        await self.conversation.markRead(message)
    }

    // MARK: Updates

    private func take(_ update: ChatUpdate) async {
        switch update {
        case .heads(let heads):
            guard let head = heads.last(where: { $0.conversation == self.conversation.id }) else { return }
            self.head = head
            guard self.isReset else { return }
            self.isReset = false
            await self.jumpToEnd()
        case .messages(self.conversation.id, let messages):
            for message in messages { self.endTyping(message.event) }
            self.merge(messages.filter(self.isInThread))
        case .gap(self.conversation.id, _):
            guard self.thread == nil else { return }
            // The window does not reach the end of the log, so the newest rows must not be added.
            if self.hasLater { return }
            self.show(
                (try? await self.conversation.storedMessages(limit: self.pageSize))
                    ?? ThreadPage(messages: [], hasEarlier: true, hasLater: false))
        case .outgoing(let message) where message.conversation == self.conversation.id && self.isInThread(message):
            self.replaceUnsent(message)
        case .discarded(self.conversation.id, let id): self.unsent.removeAll { $0.event.id == id }
        case .receipts(self.conversation.id): await self.refreshDelivery()
        case .typing(self.conversation.id, let user, let isTyping): self.setTyping(user, isTyping)
        case .reset:
            // The log of another epoch has other positions.
            self.messages = []
            self.firstUnread = nil
            self.hasEarlier = true
            self.hasLater = false
            self.isReset = true
        case .missed:
            self.unsent = ((try? await self.conversation.unsent) ?? []).filter(self.isInThread)
            await self.jumpToEnd()
        default: break
        }
    }

    private func merge(_ changed: [ChatMessage]) {
        for message in changed {
            let seq = message.event.seq
            if message.isOwn, let id = message.event.id { self.unsent.removeAll { $0.event.id == id } }
            if let sender = message.event.sender, message.event.kind.isMessage { self.setTyping(sender, false) }
            let index = self.messages.partitioningIndex { $0.event.seq >= seq }
            if index < self.messages.count, self.messages[index].event.seq == seq {
                if self.messages[index] != message { self.messages[index] = message }
            } else if index == self.messages.count ? !self.hasLater : index > 0 || !self.hasEarlier {
                self.messages.insert(message, at: index)
            }
        }
        if !self.hasLater, self.messages.count > self.maximumRows {
            self.messages.removeFirst(self.messages.count - self.maximumRows)
            self.hasEarlier = true
        }
    }

    /// Ends the notices of members who have lost the right to write.
    private func endTyping(_ event: ChatEvent) {
        guard [.memberLeave, .memberRemove, .memberBan, .memberMute].contains(event.kind.code), case .members(let body)? = ChatChange(event)
        else { return }
        // Silencing without an end time permits the members to write again.
        if event.kind == .memberMute, body.until == nil { return }
        let users = event.kind == .memberLeave ? [event.sender].compactMap { $0 } : body.users
        for user in users { self.setTyping(user, false) }
    }

    private func replaceUnsent(_ message: ChatMessage) {
        // The log may already contain the message.
        if self.messages.contains(where: { $0.id == message.id }) { return }
        if let index = self.unsent.firstIndex(where: { $0.id == message.id }) {
            self.unsent[index] = message
        } else {
            self.unsent.append(message)
        }
    }

    private func refreshDelivery() async {
        guard let first = self.messages.first?.event.seq, let last = self.messages.last?.event.seq else { return }
        let page = try? await self.client.engine.stored(self.messages.map(\.event.seq), in: self.conversation.id)
        self.merge((page ?? []).filter { (first...last).contains($0.event.seq) })
    }

    private func setTyping(_ user: UserName, _ isTyping: Bool) {
        self.typingDeadlines.removeValue(forKey: user)?.cancel()
        guard isTyping else {
            if self.typing.contains(user) { self.typing.removeAll { $0 == user } }
            return
        }
        if !self.typing.contains(user) { self.typing.append(user) }
        let sleep = self.client.engine.environment.sleep
        self.typingDeadlines[user] = Task { [weak self] in
            guard (try? await sleep(Self.typingTime)) != nil else { return }
            self?.setTyping(user, false)
        }
    }
}

extension Array {
    /// Returns the first index whose element satisfies a condition, by bisection. All elements
    /// after it must satisfy the condition, too.
    func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
