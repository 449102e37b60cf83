import ApusChatHTTP
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import ApusSocketIOServer
import Logging
import NIOCore

/// A connection of an app that uses the legacy protocol.
actor LegacyConnection {
    /// An input that the connection handles in order.
    enum Input: Sendable {
        case push(LegacyPush)
        case answered(ConversationID, n: Int64)
        /// The ack did not arrive: it timed out, or the connection ended.
        case unanswered(ConversationID, n: Int64)
    }

    /// The maximum number of waiting inputs. A connection that exceeds it is closed. The app then
    /// reconnects and receives the missed events.
    private static let maximumInputs = 4_096
    /// The maximum time for the acknowledgement of a message.
    private static let ackTimeout = Duration.seconds(20)
    /// The maximum number of events that one request reads from the log.
    private static let pageEvents = 20
    /// The maximum number of pages that are searched for the first unread message of a
    /// conversation.
    private static let searchedPages = 5
    /// The maximum time to wait until a rate limit permits a request, in milliseconds.
    private static let longestWait: Int64 = 10_000

    let server: LegacyServer
    let session: AccountSession
    let client: ClientOrigin
    nonisolated let socket: SocketIOServerSocket
    let chat: TranslatedConnection
    private let inputs: AsyncStream<Input>
    private nonisolated let input: AsyncStream<Input>.Continuation
    private var opening: Task<Void, any Error>?
    private var account: (user: UserName, own: ConversationID)?
    private var conversations: [ConversationID: LegacyConversation] = [:]
    private var deliveries: [ConversationID: LegacyDelivery] = [:]
    /// The groups to which the user is invited, by their titles.
    private(set) var invitations: [String: ConversationID] = [:]
    var calls = LegacyCalls()

    /// Serves a connection until it ends.
    static func serve(_ socket: SocketIOServerSocket, _ session: AccountSession, _ server: LegacyServer) {
        let (inputs, input) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(Self.maximumInputs))
        let client = server.client(of: socket)
        let requester = Requester(user: session.user, device: session.device, origin: client.keys)
        let chat: TranslatedConnection
        do {
            chat = try server.chat.translate(socket, of: requester, watchesPresence: true) { [weak socket] push, value in
                guard let push = LegacyPush(push, value) else { return }
                if case .dropped = input.yield(.push(push)) { socket?.disconnect(close: true) }
            }
        } catch {
            return socket.disconnect(close: true)
        }
        let connection = LegacyConnection(server, session, client, socket, chat, inputs, input)
        for event in LegacyEvent.allCases {
            socket.on(event.rawValue) { received in await connection.received(event, received) }
        }
        let work = Task { await connection.run() }
        socket.onDisconnect { _ in
            input.finish()
            work.cancel()
            // Leaves the current call, which notifies the other party, and then ends the pushes.
            Task { await connection.ended() }
        }
    }

    private init(
        _ server: LegacyServer, _ session: AccountSession, _ client: ClientOrigin, _ socket: SocketIOServerSocket,
        _ chat: TranslatedConnection, _ inputs: AsyncStream<Input>, _ input: AsyncStream<Input>.Continuation
    ) {
        self.server = server
        self.session = session
        self.client = client
        self.socket = socket
        self.chat = chat
        self.inputs = inputs
        self.input = input
    }

    var logger: Logger { self.server.logger }

    // MARK: The life of a connection

    private func run() async {
        do { _ = try await self.opened() } catch {
            self.logger.debug("A connection of the legacy protocol could not be opened", metadata: ["error": "\(error)"])
            return self.socket.disconnect(close: true)
        }
        for await input in self.inputs { await self.take(input) }
    }

    private func ended() async {
        await self.leaveCall()
        self.chat.close()
    }

    /// Opens the connection in the chat if necessary, and returns the account.
    func opened() async throws -> (user: UserName, own: ConversationID) {
        if self.opening == nil { self.opening = Task { try await self.open() } }
        try await self.opening?.value
        guard let account = self.account else { throw ChatError(.unavailable, message: "The connection is not open.") }
        return account
    }

    private func open() async throws {
        let device = HelloDevice(name: "FLSocketIM", platform: "legacy")
        let hello = try await self.chat.ask(ChatVerbs.hello, HelloRequest(device: device, sync: SyncRequest()))
        self.account = (hello.user.name, hello.own)
        var page = hello.sync
        while let heads = page {
            for head in heads.heads { await self.learn(head) }
            page = nil
            if let next = heads.page {
                page = try await self.patiently { try await self.chat.ask(ChatVerbs.sync, SyncRequest(page: next)) }
            }
        }
    }

    /// Performs a request. Retries it up to five times while a rate limit refuses it.
    private func patiently<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        for _ in 0..<5 {
            do { return try await body() } catch let error as ChatError where error.code == .tooMany {
                try await Task.sleep(for: .milliseconds(min(error.retryAfter ?? 1_000, Self.longestWait)))
            }
        }
        return try await body()
    }

    private func take(_ input: Input) async {
        switch input {
        case .push(let push):
            do { try await self.pushed(push) } catch {
                self.logger.debug("A push could not be translated to the legacy protocol", metadata: ["error": "\(error)"])
            }
        case .answered(let conversation, let n):
            guard let outcome = self.deliveries[conversation]?.answered(n) else { return }
            await self.carryOut(outcome.read, outcome.action, in: conversation)
        case .unanswered(let conversation, let n):
            guard let action = self.deliveries[conversation]?.unanswered(n) else { return }
            await self.carryOut(nil, action, in: conversation)
        }
    }

    private func pushed(_ push: LegacyPush) async throws {
        switch push {
        case .news(let conversation, let first, let last, let calls):
            try await self.news(conversation, from: first, to: last)
            if !calls.isEmpty { await self.called(try calls.map { try ChatEvent(json: $0) }) }
        case .heads(let value):
            let push = try HeadPush(json: value)
            for conversation in push.gone { self.forget(conversation) }
            for head in push.heads { await self.learn(head) }
            for nudge in push.nudges { try await self.news(nudge.conversation, from: nudge.seq, to: nudge.seq) }
        case .presence(let value):
            guard let frames = self.frames else { return }
            for frame in frames.frames(of: try PresencePush(json: value)) { self.emit(frame) }
        case .signal(let value): self.signalled(try SignalPush(json: value))
        }
    }

    // MARK: Conversations

    private var frames: LegacyFrames? {
        self.account.map { LegacyFrames(user: $0.user, bodies: LegacyBodies(paths: self.server.paths)) }
    }

    /// Returns the group that the app identifies by this title; nil if the user is not a member of
    /// one.
    func group(_ title: String) -> ConversationID? {
        self.conversations.filter { $0.value == .group(title) }.keys.min()
    }

    func kind(of conversation: ConversationID) -> LegacyConversation? { self.conversations[conversation] }

    func forget(_ conversation: ConversationID) {
        self.conversations[conversation] = nil
        self.deliveries[conversation] = nil
    }

    /// Adds a conversation, and starts the delivery of its messages.
    ///
    /// - Parameter start: The `seq` of the first event to deliver; nil for the first unread
    ///   message.
    func learn(_ head: ChatHead, from start: Int64? = nil) async {
        for (title, invited) in self.invitations where invited == head.conversation { self.invitations[title] = nil }
        guard let conversation = LegacyConversation(head) else {
            if head.state == .invited, head.kind == .group, let title = head.title { self.invitations[title] = head.conversation }
            return self.forget(head.conversation)
        }
        self.conversations[head.conversation] = conversation
        if self.deliveries[head.conversation] == nil {
            var first = start
            if first == nil, head.unread > 0 { first = try? await self.patiently { try await self.firstUnread(head) } }
            // Another task may have added the delivery during the wait.
            if self.deliveries[head.conversation] == nil {
                self.deliveries[head.conversation] = LegacyDelivery(next: first ?? head.seq + 1)
            }
        }
        guard let action = self.deliveries[head.conversation]?.news(seq: head.seq) else { return }
        await self.carryOut(nil, action, in: head.conversation)
    }

    /// Returns the `seq` of the first unread message, or of the oldest event within the search
    /// limit.
    private func firstUnread(_ head: ChatHead) async throws -> Int64 {
        var first = head.seq + 1
        for _ in 0..<Self.searchedPages {
            let page = try await self.chat.ask(
                ChatVerbs.history, HistoryRequest(conversation: head.conversation, range: .before(first)))
            guard let oldest = page.events.first?.seq else { break }
            if let read = page.events.last(where: { ($0.n ?? .max) <= head.read }) { return read.seq + 1 }
            first = oldest
        }
        return first
    }

    private func news(_ key: ConversationID, from first: Int64, to last: Int64) async throws {
        if self.conversations[key] == nil {
            let info = try await self.patiently { try await self.chat.ask(ChatVerbs.conversationInfo, InfoRequest(conversation: key)) }
            return await self.learn(info.head, from: first)
        }
        guard let action = self.deliveries[key]?.news(seq: last) else { return }
        await self.carryOut(nil, action, in: key)
    }

    // MARK: Delivery

    private func carryOut(_ read: Int64?, _ action: LegacyDelivery.Action, in key: ConversationID) async {
        if let read {
            // If the request fails, the messages are delivered again on the next connection.
            _ = try? await self.patiently {
                try await self.chat.ask(ChatVerbs.mark, MarkRequest(conversation: key, read: read, received: read))
            }
        }
        guard case .fetch(let seq) = action else { return }
        do {
            let request = HistoryRequest(conversation: key, range: .from(seq), limit: Self.pageEvents)
            await self.deliver(try await self.patiently { try await self.chat.ask(ChatVerbs.history, request) }, in: key)
        } catch {
            self.deliveries[key]?.failed()
        }
    }

    private func deliver(_ page: HistoryAnswer, in key: ConversationID) async {
        guard let conversation = self.conversations[key], let frames = self.frames else { return }
        var ordinals: Set<Int64> = []
        var sent: [(frames: [LegacyFrame], n: Int64?)] = []
        for event in page.events {
            let frames = frames.frames(of: event, in: conversation)
            sent.append((frames, event.n))
            if !frames.isEmpty, let n = event.n { ordinals.insert(n) }
        }
        let awaited = ordinals
        guard
            let outcome = self.deliveries[key]?.fetched(
                last: page.events.last?.seq, messages: page.events.compactMap(\.n), awaited: awaited)
        else { return }
        for (frames, n) in sent {
            for (index, frame) in frames.enumerated() {
                let isLast = index == frames.count - 1
                self.emit(await self.withThumbnail(frame), answering: isLast && conversation.hasAcks ? n.map { (key, $0) } : nil)
            }
        }
        if !conversation.hasAcks, !awaited.isEmpty {
            // In a conversation without acknowledgements, a message counts as answered after the
            // server has sent it.
            self.socket.whenDrained { [input = self.input] in
                for n in awaited.sorted() { input.yield(.answered(key, n: n)) }
            }
        }
        await self.carryOut(outcome.read, outcome.action, in: key)
    }

    private func withThumbnail(_ frame: LegacyFrame) async -> LegacyFrame {
        guard let blob = frame.thumbnail,
            let bytes = try? await self.server.files.prefix(of: blob, upTo: Int(LegacyBodies.thumbnailBytes))
        else { return frame }
        return frame.with(thumbnail: Array(bytes.readableBytesView))
    }

    /// Sends a frame to the app.
    ///
    /// - Parameter message: The message that the app acknowledges; nil if the app sends no
    ///   acknowledgement.
    func emit(_ frame: LegacyFrame, answering message: (conversation: ConversationID, n: Int64)? = nil) {
        guard let (conversation, n) = message else { return self.socket.emit(frame.event, arguments: [frame.argument]) }
        self.socket.emitWithAck(frame.event, arguments: [frame.argument], timeout: Self.ackTimeout) { [input = self.input] result in
            input.yield((try? result.get()) == nil ? .unanswered(conversation, n: n) : .answered(conversation, n: n))
        }
    }
}
