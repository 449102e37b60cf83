public import ApusChatProtocol

extension ChatConversation {
    /// Replaces the body of a message of the user.
    ///
    /// - Parameters:
    ///   - seq: The position of the message in the log.
    ///   - body: The new body, of the same kind.
    public func edit(_ seq: Int64, body: ChatBody) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.edit, EditRequest(id: self.engine.environment.makeID(), conversation: self.id, ref: seq, body: body.fields))
    }

    /// Replaces the text of a text message of the user. To edit the caption of a file, use
    /// ``edit(_:body:)`` with the whole body.
    ///
    /// - Parameters:
    ///   - seq: The position of the message in the log.
    ///   - text: The new text.
    ///   - entities: The formats of the text. Default: none.
    public func edit(_ seq: Int64, text: String, entities: [TextEntity] = []) async throws(ChatClientError) {
        try await self.edit(seq, body: .text(TextBody(text: text, entities: entities)))
    }

    /// Removes the preview of a link from a message of the user, for all members. The server
    /// permits the removal while the message can be edited.
    ///
    /// - Parameter seq: The position of the message in the log.
    public func removePreview(_ seq: Int64) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.previewRemove, PreviewRemoveRequest(id: id, conversation: self.id, ref: seq))
    }

    /// Removes the content of a message for all members.
    ///
    /// - Parameter seq: The position of the message in the log.
    public func recall(_ seq: Int64) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.recall, RecallRequest(id: self.engine.environment.makeID(), conversation: self.id, ref: seq))
    }

    /// Hides messages from the user, on all devices. Other members still see them.
    ///
    /// - Parameter seqs: The positions of the messages in the log.
    public func hide(_ seqs: [Int64]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.hide, HideRequest(id: self.engine.environment.makeID(), conversation: self.id, seqs: seqs))
    }

    /// Adds or removes a reaction of the user.
    ///
    /// - Parameters:
    ///   - seq: The position of the message in the log.
    ///   - key: The reaction: an emoji, or a short text.
    ///   - isOn: Whether the reaction is added; false removes it. Default: `true`.
    public func react(to seq: Int64, with key: String, isOn: Bool = true) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(
            ChatVerbs.react, ReactRequest(id: id, conversation: self.id, ref: seq, key: key, isRemoval: !isOn))
    }

    /// Returns a page of the reactions to a message, with the users who reacted.
    ///
    /// - Parameters:
    ///   - seq: The position of the message in the log.
    ///   - key: The reaction to list. Default: all reactions.
    ///   - page: The token that the previous page returned; nil for the first page.
    public func reactions(
        to seq: Int64, key: String? = nil, after page: PageToken? = nil
    ) async throws(ChatClientError) -> ReactionPage {
        let request = ReactionsRequest(conversation: self.id, ref: seq, key: key, page: page)
        let answer = try await self.engine.askPatiently(ChatVerbs.reactions, request)
        await self.engine.want(answer.reactions.map(\.user))
        return ReactionPage(reactions: answer.reactions, next: answer.page)
    }

    /// Returns the original version of a message and the version after each edit, oldest first. The
    /// server returns at most the first 199 edits.
    ///
    /// - Parameter seq: The position of the message in the log.
    public func versions(of seq: Int64) async throws(ChatClientError) -> [MessageVersion] {
        let request = HistoryRequest(conversation: self.id, range: .newest, edits: seq)
        let events = try await self.engine.askPatiently(ChatVerbs.history, request).events
        guard let kind = events.first?.kind, kind.isMessage else { return [] }
        return events.compactMap { MessageVersion($0, of: kind) }
    }

    /// Returns the votes of a poll with the names of the voters, newest first; empty for an
    /// anonymous poll.
    ///
    /// Reads the votes from the log after the poll. Reads at most the newest 5,000 events of the
    /// log.
    ///
    /// - Parameter seq: The position of the poll in the log.
    public func votes(of seq: Int64) async throws(ChatClientError) -> [PollVote] {
        var votes: [PollVote] = []
        var known: Set<UserName> = []
        var range = HistoryRequest.Range.newest
        for _ in 0..<25 {
            let request = HistoryRequest(conversation: self.id, range: range)
            let events = try await self.engine.askPatiently(ChatVerbs.history, request).events
            for event in events.reversed() where event.seq > seq && event.ref == seq {
                guard case .vote(let body)? = ChatChange(event), let user = event.sender, known.insert(user).inserted,
                    !body.options.isEmpty
                else { continue }
                votes.append(PollVote(user: user, options: body.options))
            }
            guard let first = events.first?.seq, first > seq else { break }
            range = .before(first)
        }
        return votes
    }

    /// The pinned messages, newest first. Messages that are not stored are requested.
    public var pins: [ChatMessage] {
        get async throws(ChatClientError) { try await self.engine.messages(try await self.head.pins, in: self.id) }
    }

    /// Requests the current head, the description, the creation time and the creator of the
    /// conversation.
    public func info() async throws(ChatClientError) -> ConversationInfo {
        let answer = try await self.engine.askPatiently(ChatVerbs.conversationInfo, InfoRequest(conversation: self.id))
        _ = await self.engine.adopt(answer.head)
        return ConversationInfo(head: answer.head, about: answer.about, createdAt: answer.createdAt, creator: answer.by)
    }

    // MARK: Later

    /// Stores a message on the server, which sends it at the given time.
    ///
    /// - Parameters:
    ///   - body: The body of the message.
    ///   - time: The time, in milliseconds since 1970, at most one year ahead.
    ///   - seq: The position of the message to reply to. Default: none.
    ///   - thread: The position of the message that began the thread. Default: none.
    ///   - isSilent: Whether to send without notifying the recipients. Default: `false`.
    @discardableResult
    public func schedule(
        _ body: ChatBody, at time: Int64, replyTo seq: Int64? = nil, thread: Int64? = nil, isSilent: Bool = false
    ) async throws(ChatClientError) -> ScheduledMessage {
        let request = ScheduleRequest(
            id: self.engine.environment.makeID(), conversation: self.id, kind: body.kind, body: body.fields, ref: seq, thread: thread,
            isSilent: isSilent, sendAt: time)
        return try await self.engine.askPatiently(ChatVerbs.schedule, request).scheduled
    }

    /// Returns a page of the user's scheduled messages in this conversation.
    /// ``ChatClient/unschedule(_:)`` removes one.
    ///
    /// - Parameter page: The token that the previous page returned; nil for the first page.
    public func scheduled(after page: PageToken? = nil) async throws(ChatClientError) -> ScheduledPage {
        let answer = try await self.engine.askPatiently(ChatVerbs.scheduled, ScheduledRequest(conversation: self.id, page: page))
        return ScheduledPage(messages: answer.scheduled, next: answer.page)
    }

    // MARK: Changes for all

    /// Pins or unpins a message for all members.
    ///
    /// - Parameters:
    ///   - seq: The position of the message in the log.
    ///   - isOn: Whether the message is pinned; false unpins it. Default: `true`.
    public func pin(_ seq: Int64, isOn: Bool = true) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.pin, PinRequest(id: id, conversation: self.id, ref: seq, isRemoval: !isOn))
    }

    /// Sets the user's votes in a poll. They replace earlier votes.
    ///
    /// - Parameters:
    ///   - seq: The position of the poll in the log.
    ///   - options: The indices of the options, from 0; an empty array withdraws the votes.
    public func vote(_ seq: Int64, options: [Int64]) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.vote, VoteRequest(id: id, conversation: self.id, ref: seq, options: options))
    }

    /// Ends a poll.
    ///
    /// - Parameter seq: The position of the poll in the log.
    public func closePoll(_ seq: Int64) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.pollClose, PollCloseRequest(id: id, conversation: self.id, ref: seq))
    }

    // MARK: Other conversations

    /// Forwards messages of this conversation to another one.
    ///
    /// - Parameters:
    ///   - seqs: The positions of the messages in the log.
    ///   - target: The conversation that receives the messages.
    ///   - title: The title of one `bundle` message that contains all messages; nil forwards each
    ///     message separately.
    ///   - isAnonymous: Whether the names of the original senders are removed. Default: `false`.
    public func forward(
        _ seqs: [Int64], to target: ConversationID, bundledAs title: String? = nil, isAnonymous: Bool = false
    ) async throws(ChatClientError) {
        let request = ForwardRequest(
            id: self.engine.environment.makeID(), conversation: target, source: self.id, seqs: seqs, isBundle: title != nil, title: title,
            isAnonymous: isAnonymous)
        _ = try await self.engine.askPatiently(ChatVerbs.forward, request)
    }
}
