import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Forwarded messages are copies, so they remain when the original is recalled.
extension ReadContext {
    /// Returns the contents that a `forward` sends: one for each message, or one bundle.
    func forwarded(_ request: ForwardRequest) throws -> [MessageContent] {
        var items = try request.seqs.map { try self.item($0, of: request) }
        guard request.isBundle else { return try items.map { try self.content(of: $0) } }
        guard items.allSatisfy({ $0.kind.code != .bundle }) else {
            throw ChatError(.badRequest, message: "`seqs` must not name a bundle if the messages are sent as a bundle.", field: "seqs")
        }
        for index in items.indices { items[index].body["forwarded"] = nil }
        let bundle = BundleBody(title: try request.title ?? self.title(of: request), items: items)
        let body = try bundle.json.jsonString()
        guard body.utf8.count <= ChatLimits.requestBytes else {
            throw ChatError(
                .tooLarge,
                message: "A bundle must have at most \(ChatLimits.requestBytes) bytes. Forward fewer messages, or forward them separately.",
                field: "seqs")
        }
        return [MessageContent(kind: EventKind(.bundle), body: body, blobs: bundle.blobs)]
    }

    /// Returns a message as an item of a bundle. Throws an error if the viewer cannot see it.
    private func item(_ seq: Int64, of request: ForwardRequest) throws -> BundleItem {
        let key = request.source.key
        let view = try self.reads.events(in: key, .from(seq), as: self.viewer, limit: 1).first
        guard let row = view.flatMap({ self.served($0) })?.row, row.seq == seq, row.isMessage, !row.state.isBlank, row.kind.code != .call,
            let body = (try? JSONValue(jsonString: row.body))?.objectValue
        else { throw ChatError.noMessage }
        guard !request.isAnonymous else { return BundleItem(at: row.at, kind: row.kind, body: body) }
        let sender = try self.reads.accounts([row.sender]).first
        return BundleItem(
            sender: sender?.name, nick: sender.flatMap { $0.nickname.isEmpty ? nil : $0.nickname }, at: row.at, kind: row.kind, body: body)
    }

    private func content(of item: BundleItem) throws -> MessageContent {
        var fields = item.body
        // A message that was forwarded before retains its original sender.
        if fields["forwarded"] == nil, item.kind.code != .bundle {
            fields["forwarded"] = ForwardedFrom(sender: item.sender, nick: item.nick, at: item.at).json
        }
        // A forwarded poll is open again. Mentions in the text have no effect, because they name
        // users of the other conversation.
        (fields["closed"], fields["closes_at"]) = (nil, nil)
        let body = try ChatBody(kind: item.kind, body: fields)
        var content = MessageContent(kind: item.kind, body: try JSONValue.object(fields).jsonString(), blobs: body.blobs)
        if case .poll(let poll) = body {
            content.options = poll.options.count
            content.allowsManyVotes = poll.allowsMultiple
            content.hidesVoters = poll.isAnonymous
        }
        return content
    }

    private func title(of request: ForwardRequest) throws -> String {
        let head = try self.head(self.head(request.source.key))
        return head.title ?? head.peer.map { $0.nick ?? $0.name.rawValue } ?? "Messages"
    }
}
