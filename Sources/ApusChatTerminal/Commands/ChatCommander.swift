import ApusBytes
package import ApusChatClient
package import ApusChatProtocol

/// A line of output of a command.
package struct ChatSaid: Hashable, Sendable {
    package enum Style: Hashable, Sendable { case plain, bold, dim, accent, good, warning }
    package var text: String
    package var style: Style
    /// The command that is performed when the user selects the line; nil if the line cannot be
    /// selected.
    package var command: String?
}

/// The part of the program that shows the chat: the screen or the line mode.
@MainActor
package protocol ChatCommandHost: AnyObject {
    /// The open conversation; nil while the list is shown.
    var conversation: ChatConversation? { get }
    /// The loaded messages of the open conversation or thread, in the order of the log.
    var shownRows: [ChatMessage] { get }
    /// The `seq` of the selected message; nil if no message is selected.
    var selectedSeq: Int64? { get }
    /// The `seq` of the message that began the open thread; nil if no thread is open.
    var openThread: Int64? { get }
    func say(_ line: ChatSaid)
    /// Opens a conversation.
    func show(_ conversation: ChatConversation) async throws
    /// Shows the messages around a `seq` of the open conversation.
    func jump(to seq: Int64) async throws
    /// Shows a thread; nil shows the whole conversation.
    func showThread(_ root: Int64?) async throws
    /// Handles a message that was stored for sending.
    func sent(_ message: ChatMessage)
    /// Opens a file with the default program for its type.
    func openFile(_ path: String) throws
}

/// Performs the commands that do not depend on the presentation of the chat.
@MainActor
package final class ChatCommander {
    package let client: ChatClient
    package weak var host: (any ChatCommandHost)?
    let clock: ChatClock
    /// The conversations in the last list, to which `/open` refers by number.
    package var listed: [ConversationID] = []
    /// The conversations in the last `/directory`.
    var directory: [ConversationID] = []
    /// The requests in the last `/requests`.
    var requests: [ChatRequest] = []
    var scheduled: [ClientID] = []
    /// The number of scheduled messages or users after which a list requests no further page.
    static let maximumListed = 500
    var devices: [DeviceID] = []
    /// The members on the first page of the member list, for mentions and completion; empty until
    /// they are needed.
    var members: (conversation: ConversationID?, names: [UserName]) = (nil, [])
    /// The position at which the next `/members` continues; nil for the beginning.
    var nextMembers: (conversation: ConversationID, query: String, page: PageToken)?

    package init(client: ChatClient, clock: ChatClock) {
        self.client = client
        self.clock = clock
    }

    /// Performs a line, except commands of the program itself, such as `/quit`, which the host
    /// performs.
    package func perform(_ line: ChatLine) async {
        do {
            switch line {
            case .nothing: break
            case .mistake(let words): self.say(words, .warning)
            case .text(let text): try await self.send(text)
            case .command(let call): try await self.perform(call)
            }
        } catch {
            self.say(ChatText.reason(error, self.clock), .warning)
        }
    }

    private func perform(_ call: ChatCall) async throws {
        switch call.name {
        case .chats, .history, .help, .quit, .logout: break  // the host's
        case .archived, .open, .notes, .jump, .search, .pins, .thread: try await self.read(call)
        case .reply, .edit, .versions, .unpreview, .recall, .hide, .forward, .react, .unreact, .reactions, .readers, .pin, .unpin, .silent,
            .file,
            .save, .view, .poll, .vote, .votes, .closepoll, .retry, .discard:
            try await self.write(call)
        case .schedule, .scheduled, .unschedule: try await self.later(call)
        case .members, .add, .remove, .ban, .unban, .banned, .role, .silence, .unsilence, .approve, .reject, .leave:
            try await self.people(in: call)
        case .mute, .unmute, .top, .untop, .archive, .unarchive, .unread, .delete, .info, .title, .about, .slow, .expire, .write, .set,
            .joining,
            .listed, .links, .link, .revoke:
            try await self.settings(call)
        case .folder, .unfolder, .folders: try await self.folders(call)
        case .group, .channel, .directory, .join: try await self.others(call)
        case .users, .contacts, .contact, .uncontact, .alias, .block, .unblock, .blocked, .requests, .accept, .decline, .withdraw, .report:
            try await self.contacts(call)
        case .nick, .status, .privacy, .quiet, .sessions, .signout, .export: try await self.account(call)
        }
    }

    // MARK: Shared parts

    func say(_ text: String, _ style: ChatSaid.Style = .plain, command: String? = nil) {
        self.host?.say(ChatSaid(text: text, style: style, command: command))
    }

    /// Returns the open conversation. Throws `invalidUse` while the list is shown.
    func opened() throws(ChatClientError) -> ChatConversation {
        guard let conversation = self.host?.conversation else {
            throw ChatClientError(.invalidUse, message: "open a conversation first: /open NAME")
        }
        return conversation
    }

    /// Returns the entry of a list with the number that the user typed, counted from 1; nil if
    /// there is none.
    static func entry<Entry>(_ text: String, of list: [Entry]) -> Entry? {
        guard let number = Int(digits: text), number >= 1, number <= list.count else { return nil }
        return list[number - 1]
    }

    /// Returns the `seq` of each message to which a command applies: the messages that the command
    /// names, or the selected message, or the last message that satisfies a condition.
    ///
    /// - Parameter kind: A description of the messages that satisfy the condition, for the error
    ///   message.
    func targets(
        _ call: ChatCall, named kind: String = "message", where condition: (ChatMessage) -> Bool = { _ in true }
    ) throws(ChatClientError) -> [Int64] {
        // A mistyped number must not make the command apply to the last message or to fewer
        // messages.
        if call.name.form.arguments == "[#N]", !call.words.isEmpty {
            throw ChatClientError(
                .invalidUse, message: "\(call.name.usage): \"\(ChatText.harmless(call.words))\" is not the number of a message, such as #17"
            )
        }
        if !call.seqs.isEmpty { return call.seqs }
        if let selected = self.host?.selectedSeq { return [selected] }
        let rows = self.host?.shownRows ?? []
        guard let row = rows.last(where: { $0.event.n != nil && !$0.event.state.isBlank && condition($0) }) else {
            throw ChatClientError(.invalidUse, message: "there is no \(kind) on the screen; name a message by its number, such as #17")
        }
        return [row.event.seq]
    }

    func target(
        _ call: ChatCall, named kind: String = "message", where condition: (ChatMessage) -> Bool = { _ in true }
    ) throws(ChatClientError) -> Int64 {
        guard let seq = try self.targets(call, named: kind, where: condition).first else {
            throw ChatClientError(.invalidUse, message: "\(call.name.usage): the number is missing")
        }
        return seq
    }

    /// Returns the message of the open conversation with a `seq`. Throws `notFound` if it does not
    /// exist.
    func message(_ seq: Int64) async throws(ChatClientError) -> ChatMessage {
        if let row = self.host?.shownRows.first(where: { $0.event.seq == seq }) { return row }
        let page = try await self.opened().messages(around: seq, limit: 2)
        guard let row = page.messages.first(where: { $0.event.seq == seq }) else {
            throw ChatClientError(.notFound, message: "there is no message #\(seq)")
        }
        return row
    }

    func user(_ text: String) throws(ChatClientError) -> UserName {
        guard let name = UserName(text) else {
            throw ChatClientError(.invalidUse, message: "\"\(ChatText.harmless(text))\" is not a user name")
        }
        return name
    }

    /// Returns the user named in a command. Throws `invalidUse` if the command has further words.
    func user(of call: ChatCall) throws(ChatClientError) -> UserName {
        let (name, rest) = call.named
        guard rest.isEmpty else {
            throw ChatClientError(
                .invalidUse, message: "\(call.name.usage): one name is expected, not \"\(ChatText.harmless(call.words))\"")
        }
        return try self.user(name)
    }

    /// Returns the time after a number of hours or a duration such as `30m` or `7d`, in
    /// milliseconds since 1970; nil for an empty text.
    func time(inHours text: String) throws(ChatClientError) -> Int64? {
        guard !text.isEmpty else { return nil }
        let seconds: Int64
        if let hours = Int64(digits: text) {
            seconds = (1...87_600).contains(hours) ? hours * 3_600 : 0
        } else {
            seconds = ChatClock.seconds(text) ?? 0
        }
        guard (1...87_600 * 3_600).contains(seconds) else {
            throw ChatClientError(.invalidUse, message: "the number of hours must be from 1 to 87600, not \"\(ChatText.harmless(text))\"")
        }
        return self.clock.now() + seconds * 1_000
    }

    func list(_ names: [UserName]) -> String { names.map { "@\($0)" }.joined(separator: ", ") }

    /// Returns the words that the Tab key completes: commands, mentions, names and titles.
    package func completions() async -> [String] {
        let all = (try? await self.host?.conversation?.head)?.wordsForAll ?? []
        var words = ChatCommandName.words + all.map { "@\($0)" }
        var users = Set(self.members.names)
        for head in await self.client.heads {
            if let peer = head.peer?.name { users.insert(peer) }
            if let title = head.title { words.append(ChatText.harmless(title)) }
        }
        for user in users.sorted() { words += ["@\(user)", user.rawValue] }
        return words
    }

    /// Requests the first page of the members of the open conversation, for mentions and
    /// completion.
    package func loadMembers() async {
        guard let conversation = self.host?.conversation, self.members.conversation != conversation.id else { return }
        guard await self.client.state == .online, let page = try? await conversation.members() else { return }
        self.members = (conversation.id, page.members.map(\.user.name))
    }
}
