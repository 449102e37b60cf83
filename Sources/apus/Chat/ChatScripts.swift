import ApusChatClient
import ApusChatProtocol
import ApusEventLoop
import ApusChatTerminal
import ArgumentParser
import Foundation

/// `apus chat send`: sends one message and exits.
struct ChatSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send one message.",
        discussion: """
            Without a text or with "-", the text is read from standard input. The command exits when the server has stored the message, and \
            prints the number of the message. Without a connection, the message is stored and the next command sends it; the exit code is \
            then 75.
            """
    )

    @OptionGroup var options: ChatOptions

    @Argument(help: "The conversation: a user name, a title or an id.")
    var conversation: String

    @Argument(help: "The text, as Markdown, or the caption of a file.")
    var text: String?

    @Option(help: ArgumentHelp("A file or picture to send.", valueName: "path"))
    var file: String?

    @Option(help: ArgumentHelp("The number of the message to reply to.", valueName: "number"))
    var reply: Int64?

    @Flag(help: "Send the text as it is, without Markdown.")
    var plain = false

    @Flag(help: "Print the message as JSON.")
    var json = false

    func validate() throws {
        if let reply, reply < 1 { throw ValidationError("--reply must be the number of a message, from 1, not \(reply)") }
    }

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let chat = try await ChatCommander(client: client, clock: .system).conversation(named: self.conversation)
            let updates = client.updates(bufferingPolicy: .unbounded)
            let message = try await self.send(to: chat)
            guard let id = message.event.id else { return }
            // Wait for the answer, at most for the time of --wait.
            let wait = Duration.seconds(self.options.wait)
            let result = await Self.result(of: id, client, updates, within: wait)
            switch result?.delivery {
            case .sent?, .delivered?, .read?:
                guard let result else { break }
                ChatOutput.standard.line(self.json ? ChatLines.line(result) : "✓ sent\(result.seq.map { " #\($0)" } ?? "")")
            case .failed(let error)?:
                try? await chat.discard(id)
                throw ChatClientError(.refused, message: "the message was refused: \(error.message)", serverError: error)
            default:
                ChatOutput.standard.error("the message was not sent yet; it is stored, and the next command sends it")
                throw ExitCode(75)
            }
        }
    }

    private func send(to chat: ChatConversation) async throws -> ChatMessage {
        if let file {
            let path = HomePath.expanded(file)
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw ChatClientError(.notFound, message: "cannot read the file \(path)")
            }
            return try await chat.send(file: path, type: MediaType.of(path: path), caption: self.text, replyTo: self.reply)
        }
        var text = self.text ?? "-"
        if text == "-" {
            let bytes = FileHandle.standardInput.readDataToEndOfFile()
            text = String(decoding: bytes, as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
        }
        guard text.contains(where: { !$0.isWhitespace }) else { throw ChatClientError(.invalidUse, message: "the text is empty") }
        if self.plain { return try await chat.send(text, replyTo: self.reply) }
        let names = text.contains("@") ? (try? await chat.members().members.map(\.user.name)) ?? [] : []
        let mentions = Dictionary(names.map { ($0.rawValue.lowercased(), $0) }, uniquingKeysWith: { $1 })
        let parsed = ChatMarkdown.parse(text, mentions: mentions, all: (try? await chat.head)?.wordsForAll ?? [])
        return try await chat.send(parsed.text, entities: parsed.entities, replyTo: self.reply)
    }

    /// Waits until the server has stored or refused a message.
    private static func result(
        of id: ClientID, _ client: ChatClient, _ updates: EventStream<ChatUpdate>, within wait: Duration
    ) async -> ChatMessage? {
        await withTaskGroup(of: ChatMessage?.self) { group in
            group.addTask {
                for await update in updates {
                    switch update {
                    case .messages(_, let rows): if let row = rows.last(where: { $0.isOwn && $0.event.id == id }) { return row }
                    case .outgoing(let message) where message.event.id == id:
                        switch message.delivery {
                        case .failed: return message
                        case .sent, .delivered, .read: if message.seq != nil { return message }
                        default: continue
                        }
                    default: continue
                    }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: wait)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}

/// `apus chat tail`: prints messages as they arrive.
struct ChatTailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Print new messages as they arrive.",
        discussion: """
            A changed message is printed again. SIGINT and SIGTERM end the command. It does not mark messages as read.
            """
    )

    @OptionGroup var options: ChatOptions

    @Argument(help: "The conversation. Default: all conversations.")
    var conversation: String?

    @Option(name: [.customShort("n"), .long], help: "The number of earlier messages to print first, if a conversation is named.")
    var count: Int = 0

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (0...1_000).contains(self.count) else { throw ValidationError("--count must be from 0 to 1000, not \(self.count)") }
    }

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let updates = client.updates(bufferingPolicy: .unbounded)
            let commander = await ChatCommander(client: client, clock: .system)
            var wanted: ConversationID?
            if let name = self.conversation {
                let chat = try await commander.conversation(named: name)
                wanted = chat.id
                await chat.didOpen()
                if self.count > 0 {
                    for row in try await ChatPrinter.rows(of: chat, count: self.count) {
                        await ChatPrinter.print(row, client, isJSON: self.json)
                    }
                }
            }
            for await update in updates {
                switch update {
                case .messages(let id, let rows) where wanted == nil || id == wanted:
                    for row in rows where row.body != nil || row.event.kind.isMessage {
                        await ChatPrinter.print(row, client, isJSON: self.json)
                    }
                case .connection(.signedOut(let error)):
                    throw ChatClientError(.signedOut, message: "the server has ended this session: \(error.message)")
                case .connection(.closed): return
                default: continue
                }
            }
        }
    }
}

/// `apus chat list`: prints the conversations.
struct ChatListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Print the conversations, newest first.")

    @OptionGroup var options: ChatOptions

    @Flag(help: "Print only conversations with unread messages.")
    var unread = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let heads = await client.heads.filter { $0.state == .joined && (!self.unread || $0.unread > 0) }.sorted { $0.at > $1.at }
            for head in heads {
                guard !self.json else {
                    ChatOutput.standard.line(ChatLines.line(head))
                    continue
                }
                let last = head.last.map { ChatText.summary(of: $0) } ?? ""
                ChatOutput.standard.line("\(head.conversation)\t\(head.unread)\t\(ChatText.title(of: head))\t\(last)")
            }
        }
    }
}

/// `apus chat history`: prints the newest messages of a conversation.
struct ChatHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print the newest messages of a conversation, oldest first.",
        discussion: "It does not mark messages as read.")

    @OptionGroup var options: ChatOptions

    @Argument(help: "The conversation: a user name, a title or an id.")
    var conversation: String

    @Option(name: [.customShort("n"), .long], help: "The number of messages.")
    var count: Int = 50

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(self.count) else { throw ValidationError("--count must be from 1 to 10000, not \(self.count)") }
    }

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let chat = try await ChatCommander(client: client, clock: .system).conversation(named: self.conversation)
            for row in try await ChatPrinter.rows(of: chat, count: self.count) { await ChatPrinter.print(row, client, isJSON: self.json) }
        }
    }
}

/// `apus chat search`: finds messages.
struct ChatSearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find messages, on the server and in the store.",
        discussion: "The exit code is 1 if no message was found.")

    @OptionGroup var options: ChatOptions

    @Argument(help: "The words; all must occur.")
    var words: [String]

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let (hits, isStoredOnly) = try await client.searchReachable(self.words.joined(separator: " "))
            if isStoredOnly { ChatOutput.standard.error("there is no connection to the server; only messages of this device are searched") }
            for hit in hits.reversed() { await ChatPrinter.print(hit.message, client, isJSON: self.json) }
            if hits.isEmpty { throw ExitCode(1) }
        }
    }
}

/// Prints messages for scripts.
enum ChatPrinter {
    /// Prints a message as a line: `CONVERSATION NUMBER TIME SENDER TEXT`, separated by tabs, or as
    /// a JSON object.
    static func print(_ row: ChatMessage, _ client: ChatClient, isJSON: Bool) async {
        guard !isJSON else { return ChatOutput.standard.line(ChatLines.line(row)) }
        let time = Date(timeIntervalSince1970: Double(row.event.at) / 1_000).formatted(.iso8601)
        let sender = row.event.sender?.rawValue ?? "-"
        let text = ChatText.content(of: row).split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
        ChatOutput.standard.line("\(row.conversation)\t\(row.event.seq)\t\(time)\t\(sender)\t\(text)")
    }

    /// Returns the newest rows of a conversation, oldest first.
    static func rows(of chat: ChatConversation, count: Int) async throws -> [ChatMessage] {
        var page = try await chat.messages(limit: min(count, 200))
        while page.messages.count < count, page.hasEarlier, let first = page.messages.first?.event.seq {
            let earlier = try await chat.messages(before: first, limit: min(200, count - page.messages.count))
            guard !earlier.messages.isEmpty else { break }
            page.messages = earlier.messages + page.messages
            page.hasEarlier = earlier.hasEarlier
        }
        return page.messages
    }
}
