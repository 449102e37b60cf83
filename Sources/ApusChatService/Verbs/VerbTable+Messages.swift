import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Messages and their changes.
extension VerbTable {
    mutating func addMessages() {
        self.change(ChatVerbs.send) { request, requester in
            let identity = try RequestIdentity(id: request.id, hashing: try request.hashedBytes())
            let draft = ContentDraft(kind: request.kind, body: request.body)
            return Change(
                names: draft.mentions, needsReads: draft.hasBlobs,
                commands: { keys, context in
                    let send = SendCommand(
                        conversation: request.conversation.key, content: draft.content(keys, context), ref: request.ref ?? 0,
                        thread: request.thread ?? 0, ifEpoch: request.ifEpoch, isSilent: request.isSilent)
                    return [requester.command(.send(send), identity)]
                },
                answer: .place { stored in
                    SendAnswer(
                        conversation: request.conversation, id: request.id, seq: stored.seq, n: stored.n, at: stored.at
                    ).json
                })
        }
        self.change(ChatVerbs.edit) { request, requester in
            let identity = try ChatVerbs.edit.identity(of: request)
            return Change(
                needsReads: true,
                commands: { _, context in
                    let target = EventAddress(request.conversation.key, request.ref)
                    let content = Result { try context.map { try $0.edited(target, request) }.orInternal() }.mapError(
                        ChatError.init(reading:))
                    return [requester.command(.edit(target, content), identity)]
                },
                answer: .place { ChangeAnswer($0, id: request.id).json })
        }
        self.change(ChatVerbs.previewRemove) { request, _ in .removePreview(EventAddress(request.conversation.key, request.ref)) }
        self.change(ChatVerbs.recall) { request, _ in .recall(EventAddress(request.conversation.key, request.ref)) }
        self.change(ChatVerbs.hide) { request, _ in .hide(request.conversation.key, request.seqs) }
        self.change(ChatVerbs.react) { request, _ in
            .react(EventAddress(request.conversation.key, request.ref), key: request.key, isOn: !request.isRemoval)
        }
        self.change(ChatVerbs.pin) { request, _ in .pin(EventAddress(request.conversation.key, request.ref), isOn: !request.isRemoval) }
        self.change(ChatVerbs.vote) { request, _ in
            .vote(EventAddress(request.conversation.key, request.ref), options: request.options.map { Int(clamping: $0) })
        }
        self.change(ChatVerbs.pollClose) { request, _ in .closePoll(EventAddress(request.conversation.key, request.ref)) }
        self.change(ChatVerbs.forward) { request, requester in
            let identity = try ChatVerbs.forward.identity(of: request)
            return Change(
                needsReads: true,
                commands: { _, context in
                    let contents = Result { try context.map { try $0.forwarded(request) }.orInternal() }.mapError(ChatError.init(reading:))
                    return [requester.command(.forward(request.conversation.key, contents, isSilent: request.isSilent), identity)]
                },
                answer: .place { stored in
                    let count = Int64(stored.text) ?? 1
                    return ForwardAnswer(
                        conversation: request.conversation, id: request.id, seqs: Array(stored.seq..<(stored.seq + max(1, count))),
                        at: stored.at
                    ).json
                })
        }
    }
}

extension ReadContext {
    /// Returns the new content of an edited message.
    fileprivate func edited(_ target: EventAddress, _ request: EditRequest) throws -> MessageContent {
        let view = try self.reads.events(in: target.conversation, .from(target.seq), as: self.viewer, limit: 1).first
        guard let row = view?.row, row.seq == target.seq else { throw ChatError.noMessage }
        guard ChatKinds.editable.contains(row.kind) else {
            throw ChatError(.badRequest, message: "Messages of the kind `\(row.kind)` cannot be edited.", field: "ref")
        }
        let draft = ContentDraft(kind: row.kind, body: request.body)
        return try draft.content(try self.names.keys(of: draft.mentions, self.reads), self).get()
    }
}

extension Optional {
    func orInternal() throws -> Wrapped {
        guard let self else {
            throw ChatError(.internal, message: "The server failed to create the commands of the request.", retryAfter: 5_000)
        }
        return self
    }
}
