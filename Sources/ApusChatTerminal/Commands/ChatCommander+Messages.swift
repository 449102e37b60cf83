import ApusBytes
import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Foundation

/// Reads, writes and changes messages of the open conversation.
extension ChatCommander {
    func send(_ text: String, isSilent: Bool = false) async throws {
        let chat = try self.opened()
        self.host?.sent(
            try await chat.send(.text(await self.body(of: text)), thread: self.host?.openThread, isSilent: isSilent))
    }

    /// Parses Markdown to the body of a text message. The text can mention the members on the first
    /// page of the list; without a connection, only if this page is already loaded.
    private func body(of source: String) async -> TextBody {
        if source.contains("@") { await self.loadMembers() }
        let mentions = Dictionary(self.members.names.map { ($0.rawValue.lowercased(), $0) }, uniquingKeysWith: { $1 })
        let all = (try? await self.host?.conversation?.head)?.wordsForAll ?? []
        let (text, entities) = ChatMarkdown.parse(source, mentions: mentions, all: all)
        return TextBody(text: text, entities: entities)
    }

    // MARK: Reading

    func read(_ call: ChatCall) async throws {
        switch call.name {
        case .archived:
            let heads = await self.client.heads.filter { $0.state == .joined && $0.own.isArchived }.sorted { $0.at > $1.at }
            self.listed = heads.map(\.conversation)
            if heads.isEmpty { self.say("No conversation is archived.", .dim) }
            for (index, head) in heads.enumerated() {
                self.say("\(index + 1). \(ChatText.title(of: head))", command: "/open \(index + 1)")
            }
        case .open: try await self.host?.show(try await self.conversation(named: call.words))
        case .notes:
            guard let notes = await self.client.notes else {
                throw ChatClientError(.notConnected, message: "the notes are available after the first connection to the server")
            }
            try await self.host?.show(notes)
        case .jump: if let seq = call.seqs.first { try await self.host?.jump(to: seq) }
        case .search: try await self.search(call.words)
        case .pins:
            let pins = try await self.opened().pins
            if pins.isEmpty { self.say("No message is pinned.", .dim) }
            for row in pins { self.say(self.line(row), command: "/jump #\(row.event.seq)") }
        case .thread:
            guard !call.words.isEmpty else {
                if call.seqs.isEmpty, self.host?.openThread != nil { return try await self.host?.showThread(nil) ?? () }
                let row = try await self.message(try self.target(call))
                try await self.host?.showThread(row.event.thread ?? row.event.seq)
                return
            }
            let row = try await self.message(try self.target(call))
            let chat = try self.opened()
            self.host?.sent(
                try await chat.send(.text(await self.body(of: call.words)), thread: row.event.thread ?? row.event.seq))
        default: break
        }
    }

    private func line(_ row: ChatMessage) -> String {
        let name = row.event.sender == self.client.user ? "you" : row.event.sender?.rawValue ?? "?"
        return "\(self.clock.moment(row.event.at)) #\(row.event.seq) \(name): \(ChatText.summary(of: row))"
    }

    /// Splits the words of a search into the filters, such as `from:bob`, and the words to find. A
    /// word whose part before the colon is no filter is a word to find.
    private func query(_ text: String) async throws -> (words: String, filter: ChatSearchFilter) {
        var filter = ChatSearchFilter()
        var words: [Substring] = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else {
                words.append(word)
                continue
            }
            let value = String(parts[1])
            switch parts[0] {
            case "from": filter.sender = try self.user(value.hasPrefix("@") ? String(value.dropFirst()) : value)
            case "in":
                guard
                    let found = value == "."
                        ? try self.opened() : await self.known(value.hasPrefix("@") ? String(value.dropFirst()) : value)
                else { throw ChatClientError(.notFound, message: "there is no conversation \(ChatText.harmless(value)) in the list") }
                filter.conversation = found.id
            case "kind":
                let kind = EventKind(rawValue: value)
                guard kind.isMessage else {
                    throw ChatClientError(
                        .invalidUse, message: "\(ChatText.harmless(value)) is not a kind of messages, such as text, image, file or audio")
                }
                filter.kinds.append(kind)
            case "after": filter.from = try self.clock.past(value)
            case "before": filter.until = try self.clock.past(value)
            default: words.append(word)
            }
        }
        return (words.joined(separator: " "), filter)
    }

    private func listVersions(_ call: ChatCall) async throws {
        let seq = try self.target(call, named: "edited message") { $0.event.state == .edited }
        let versions = try await self.opened().versions(of: seq)
        guard versions.count > 1 else { return self.say("The message was not edited.", .dim) }
        for version in versions {
            self.say("\(self.clock.moment(version.at))  \(version.body.map { ChatText.content(of: $0, delivery: nil) } ?? "?")")
        }
    }

    private func search(_ text: String) async throws {
        let (words, filter) = try await self.query(text)
        let (hits, isStoredOnly) = try await self.client.searchReachable(words, filter)
        if isStoredOnly { self.say("No connection: only messages of this device are searched.", .dim) }
        guard !hits.isEmpty else { return self.say("No messages found.", .dim) }
        for hit in hits.reversed() {
            let title = (try? await self.client.conversation(hit.message.conversation).head).map(ChatText.title) ?? "?"
            let sender = hit.message.event.sender?.rawValue ?? "?"
            self.say(
                "[\(title)] #\(hit.message.event.seq) \(sender): "
                    + (hit.snippet.isEmpty ? ChatText.summary(of: hit.message) : ChatText.harmless(hit.snippet)),
                command: "/open \(hit.message.conversation)/\(hit.message.event.seq)")
        }
    }

    // MARK: Writing

    func write(_ call: ChatCall) async throws {
        let chat = try self.opened()
        switch call.name {
        case .reply:
            let seq = try self.target(call, named: "message of another user") { !$0.isOwn }
            self.host?.sent(
                try await chat.send(.text(await self.body(of: call.words)), replyTo: seq, thread: self.host?.openThread))
        case .silent: try await self.send(call.words, isSilent: true)
        case .edit:
            let seq = try self.target(call, named: "own text") { $0.isOwn && $0.event.kind.rawValue == "text" }
            try await chat.edit(seq, body: .text(await self.body(of: call.words)))
        case .versions: try await self.listVersions(call)
        case .unpreview:
            try await chat.removePreview(
                try self.target(call, named: "own text with a preview") { $0.isOwn && $0.event.body["preview"] != nil })
        case .recall: for seq in try self.targets(call, where: \.isOwn) { try await chat.recall(seq) }
        case .hide: try await chat.hide(try self.targets(call))
        case .forward: try await self.forward(call)
        case .react: try await chat.react(to: try self.target(call, named: "message of another user") { !$0.isOwn }, with: call.words)
        case .unreact: try await chat.react(to: try self.target(call), with: call.words, isOn: false)
        case .reactions:
            let found = try await chat.reactions(to: try self.target(call, named: "message with reactions") { !$0.event.reactions.isEmpty })
            if found.reactions.isEmpty { self.say("No reactions.", .dim) }
            for reaction in found.reactions { self.say("\(ChatText.harmless(reaction.key))  @\(reaction.user)") }
        case .readers:
            let readers = try await chat.readers(of: try self.target(call, where: \.isOwn))
            if readers.isEmpty { self.say("Not received yet.", .dim) }
            for reader in readers { self.say("@\(reader.user)  \(reader.isRead ? "read" : reader.isReceived ? "delivered" : "sent")") }
        case .pin, .unpin: for seq in try self.targets(call) { try await chat.pin(seq, isOn: call.name == .pin) }
        case .file:
            let (path, caption) = Self.file(call.words)
            let text = if let caption { await self.body(of: caption) } else { TextBody(text: "") }
            self.host?.sent(
                try await chat.send(
                    file: path, type: MediaType.of(path: path), caption: caption.map { _ in text.text }, entities: text.entities,
                    thread: self.host?.openThread))
        case .save, .view: try await self.save(call)
        case .poll: try await self.poll(call.words)
        case .vote: try await self.vote(call)
        case .votes: try await self.listVotes(call)
        case .closepoll: try await chat.closePoll(try self.target(call, named: "own poll") { $0.isOwn && $0.event.kind.rawValue == "poll" })
        case .retry, .discard:
            for message in try await chat.unsent {
                guard case .failed = message.delivery, let id = message.event.id else { continue }
                if call.name == .discard {
                    try await chat.discard(id)
                } else if let message = try await chat.retry(id) {
                    self.host?.sent(message)
                }
            }
        default: break
        }
    }

    private func forward(_ call: ChatCall) async throws {
        let seqs = try self.targets(call)
        let parts = call.words.split(separator: ":", maxSplits: 1).map { $0.trimmingSpaces }
        let target = try await self.conversation(named: parts.first ?? "")
        let title = parts.count > 1 && !parts[1].isEmpty ? parts[1] : nil
        try await self.opened().forward(seqs, to: target.id, bundledAs: title)
        self.say("\(seqs.count) message\(seqs.count == 1 ? " was" : "s were") forwarded.", .good)
    }

    /// Splits the argument into a path and a caption. A path with spaces must be in quotes, unless
    /// the whole argument is the path of an existing file.
    private static func file(_ words: String) -> (path: String, caption: String?) {
        var path = words
        var caption = ""
        if words.hasPrefix("\""), let end = words.dropFirst().firstIndex(of: "\"") {
            path = String(words[words.index(after: words.startIndex)..<end])
            caption = words[words.index(after: end)...].trimmingSpaces
        } else if !FileManager.default.fileExists(atPath: HomePath.expanded(words)) {
            let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
            path = parts.first ?? ""
            caption = parts.count > 1 ? parts[1].trimmingSpaces : ""
        }
        return (HomePath.expanded(path), caption.isEmpty ? nil : caption)
    }

    /// Writes a received file to the disk. Does not replace an existing file.
    private func save(_ call: ChatCall) async throws {
        let seq = try self.target(call, named: "file") { Self.blob(of: $0) != nil }
        guard let (blob, name) = Self.blob(of: try await self.message(seq)) else {
            throw ChatClientError(.notFound, message: "message #\(seq) has no file")
        }
        let safe = Self.fileName(from: name)
        // `URL` would expand a relative path that begins with `~`, also in a name of another user.
        let path = call.words.isEmpty ? FileManager.default.currentDirectoryPath + "/" + safe : HomePath.expanded(call.words)
        var target = URL(fileURLWithPath: path)
        if call.name == .view {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-chat-" + UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            target = folder.appendingPathComponent(safe)
        }
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw ChatClientError(.invalidUse, message: "the file \(target.path) already exists; name another one: /save #\(seq) PATH")
        }
        let bytes = try await self.client.download(blob)
        do { try Data(bytes).write(to: target, options: .withoutOverwriting) } catch {
            throw ChatClientError(.invalidUse, message: "cannot write \(target.path): \(error.localizedDescription)")
        }
        self.say("Saved \(target.path), \(ChatText.size(Int64(bytes.count))).")
        if call.name == .view { try self.host?.openFile(target.path) }
    }

    /// Returns the name under which a received file is saved.
    ///
    /// The sender chose the name, so only its last component is used, without a leading period or
    /// tilde.
    static func fileName(from name: String) -> String {
        let shown = PeerText.visible(name.split(separator: "/").last ?? "").drop { $0 == "." || $0 == "~" }
        return shown.isEmpty ? "file" : String(shown)
    }

    private static func blob(of row: ChatMessage) -> (BlobID, name: String)? {
        switch row.body {
        case .image(let body)?: (body.blob, body.name ?? "picture")
        case .file(let body)?: (body.blob, body.name)
        case .audio(let body)?: (body.blob, body.name ?? "recording")
        case .video(let body)?: (body.blob, body.name ?? "film")
        default: nil
        }
    }

    // MARK: Polls

    /// Sends a poll. Words such as `--anonymous` before the question set its properties.
    private func poll(_ words: String) async throws {
        var rest = Substring(words)
        var body = PollBody(question: "", options: [])
        if rest.hasPrefix("*") { (body.allowsMultiple, rest) = (true, rest.drop { $0 == "*" || $0 == " " }) }
        while rest.hasPrefix("--") {
            let parts = rest.split(separator: " ", maxSplits: 1)
            rest = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            switch parts[0] {
            case "--several": body.allowsMultiple = true
            case "--anonymous": body.isAnonymous = true
            case "--until":
                let time = rest.prefix { $0 != " " }
                rest = rest.dropFirst(time.count).drop { $0 == " " }
                guard let end = self.clock.parse(String(time)) else {
                    throw ChatClientError(
                        .invalidUse, message: "\(ChatCommandName.poll.usage): \"\(ChatText.harmless(String(time)))\" is not a time")
                }
                body.closesAt = end
            default:
                throw ChatClientError(
                    .invalidUse,
                    message:
                        "\(ChatCommandName.poll.usage): \(ChatText.harmless(String(parts[0]))) is not --several, --anonymous or --until")
            }
        }
        let parts = rest.split(separator: "|").map { $0.trimmingSpaces }.filter { !$0.isEmpty }
        guard let question = parts.first, parts.count > 2 else {
            throw ChatClientError(.invalidUse, message: "\(ChatCommandName.poll.usage): at least two options are required")
        }
        (body.question, body.options) = (question, Array(parts.dropFirst()))
        self.host?.sent(try await self.opened().send(.poll(body), thread: self.host?.openThread))
    }

    private func listVotes(_ call: ChatCall) async throws {
        let seq = try self.target(call, named: "poll") { $0.event.kind.rawValue == "poll" }
        guard case .poll(let poll)? = try await self.message(seq).body else {
            throw ChatClientError(.invalidUse, message: "message #\(seq) is not a poll")
        }
        guard !poll.isAnonymous else { return self.say("This poll is anonymous.", .dim) }
        let votes = try await self.opened().votes(of: seq)
        if votes.isEmpty { self.say("No votes.", .dim) }
        for vote in votes {
            let options = vote.options.compactMap { option in
                poll.options.indices.contains(Int(clamping: option)) ? poll.options[Int(clamping: option)] : nil
            }
            let name = vote.user == self.client.user ? "you" : "@\(vote.user)"
            self.say("\(name): \(options.map(ChatText.harmless).joined(separator: ", "))")
        }
    }

    private func vote(_ call: ChatCall) async throws {
        let seq = try self.target(call, named: "poll") { $0.event.kind.rawValue == "poll" }
        guard case .poll(let poll)? = try await self.message(seq).body else {
            throw ChatClientError(.invalidUse, message: "message #\(seq) is not a poll")
        }
        let numbers = call.names.map { Int64(digits: $0) ?? -1 }
        guard numbers == [0] || !numbers.isEmpty && numbers.allSatisfy({ $0 >= 1 && $0 <= poll.options.count }) else {
            throw ChatClientError(.invalidUse, message: "the numbers of the options must be from 1 to \(poll.options.count)")
        }
        try await self.opened().vote(seq, options: numbers == [0] ? [] : numbers.map { $0 - 1 })
    }

    // MARK: Later

    func later(_ call: ChatCall) async throws {
        switch call.name {
        case .schedule:
            let (word, text) = call.named
            guard let time = self.clock.parse(word) else {
                throw ChatClientError(.invalidUse, message: "\(call.name.usage): \"\(ChatText.harmless(word))\" is not a time")
            }
            guard !text.isEmpty else { throw ChatClientError(.invalidUse, message: "\(call.name.usage): the text is missing") }
            try await self.opened().schedule(.text(await self.body(of: text)), at: time, thread: self.host?.openThread)
            self.say("The message will be sent \(self.clock.moment(time)). /scheduled lists the messages.", .good)
        case .scheduled:
            var page = try await self.client.scheduled()
            var found = page.messages
            while let next = page.next, !page.messages.isEmpty, found.count < Self.maximumListed {
                page = try await self.client.scheduled(after: next)
                found += page.messages
            }
            self.scheduled = found.map(\.id)
            if found.isEmpty { self.say("No message is scheduled.", .dim) }
            for (index, message) in found.enumerated() {
                let title = (try? await self.client.conversation(message.conversation).head).map(ChatText.title) ?? "?"
                let text = ChatText.shortened(ChatText.harmless(message.body["text"]?.stringValue ?? "(\(message.kind))"))
                let error = message.error.map { "  not sent: \($0.rawValue)" } ?? ""
                self.say("\(index + 1). \(self.clock.moment(message.sendAt)) [\(title)] \(text)\(error)")
            }
            if page.next != nil { self.say("More messages are scheduled.", .dim) }
        case .unschedule:
            guard let message = Self.entry(call.words, of: self.scheduled) else {
                throw ChatClientError(
                    .invalidUse, message: "\"\(ChatText.harmless(call.words))\" is not a number in the list of /scheduled")
            }
            try await self.client.unschedule(message)
            self.say("The message is no longer scheduled.", .good)
        default: break
        }
    }
}

/// Determines the media types of common files from their extensions.
package enum MediaType {
    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "pdf": "application/pdf",
        "txt": "text/plain", "zip": "application/zip",
    ]

    package static func of(path: String) -> String {
        // A name without a period, or with a period only at its start, has no extension.
        let name = path.split(separator: "/").last ?? ""
        guard let period = name.lastIndex(of: "."), period > name.startIndex else { return "application/octet-stream" }
        return self.types[name[name.index(after: period)...].lowercased()] ?? "application/octet-stream"
    }
}
