public import ApusChatProtocol

extension ChatConversation {
    /// Replaces the body of an own message.
    public func edit(_ seq: Int64, _ body: ChatBody) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.edit, EditRequest(id: self.engine.environment.makeID(), conversation: self.id, ref: seq, body: body.fields))
    }

    /// Replaces the text of an own message.
    public func edit(_ seq: Int64, text: String, entities: [TextEntity] = []) async throws(ChatClientError) {
        try await self.edit(seq, .text(TextBody(text: text, entities: entities)))
    }

    /// Removes the content of a message for all.
    public func recall(_ seq: Int64) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.recall, RecallRequest(id: self.engine.environment.makeID(), conversation: self.id, ref: seq))
    }

    /// Removes messages from the own view.
    public func hide(_ seqs: [Int64]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.hide, HideRequest(id: self.engine.environment.makeID(), conversation: self.id, seqs: seqs))
    }

    /// Adds or removes a reaction.
    public func react(_ seq: Int64, _ key: String, isOn: Bool = true) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(
            ChatVerbs.react, ReactRequest(id: id, conversation: self.id, ref: seq, key: key, isRemoval: !isOn))
    }

    /// Returns a page of the reactions to a message, with the users.
    ///
    /// - Parameters:
    ///   - seq: The place of the message in the log.
    ///   - key: The reaction; nil for all.
    ///   - page: The position that the page before ended at; nil for the first page.
    /// - Returns: The reactions, and the position of the next page; nil on the last one.
    public func reactions(
        to seq: Int64, key: String? = nil, after page: PageToken? = nil
    ) async throws(ChatClientError) -> (reactions: [Reaction], next: PageToken?) {
        let request = ReactionsRequest(conversation: self.id, ref: seq, key: key, page: page)
        let answer = try await self.engine.askPatiently(ChatVerbs.reactions, request)
        await self.engine.want(answer.reactions.map(\.user))
        return (answer.reactions, answer.page)
    }

    /// Returns a message in its first form and after each edit, oldest first. The server returns
    /// the first 199 edits.
    ///
    /// - Parameter seq: The place of the message in the log.
    public func versions(of seq: Int64) async throws(ChatClientError) -> [MessageVersion] {
        let request = HistoryRequest(conversation: self.id, range: .newest, edits: seq)
        let events = try await self.engine.askPatiently(ChatVerbs.history, request).events
        guard let kind = events.first?.kind, kind.isMessage else { return [] }
        return events.compactMap { MessageVersion($0, of: kind) }
    }

    /// The pinned messages, newest first. What is not stored is requested.
    public var pins: [ChatMessage] {
        get async throws(ChatClientError) { try await self.engine.messages(try await self.head.pins, in: self.id) }
    }

    /// Returns what the head of the conversation leaves out.
    public func info() async throws(ChatClientError) -> ConversationInfo {
        let answer = try await self.engine.askPatiently(ChatVerbs.conversationInfo, InfoRequest(conversation: self.id))
        _ = await self.engine.adopt(answer.head)
        return ConversationInfo(head: answer.head, about: answer.about, createdAt: answer.createdAt, creator: answer.by)
    }

    // MARK: Later

    /// Stores a message on the server, which sends it at a time.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - time: The time, in milliseconds since 1970, at most one year ahead.
    ///   - seq: The message that it replies to.
    ///   - thread: The message whose thread it belongs to.
    ///   - isSilent: Whether the recipients are not notified.
    @discardableResult
    public func schedule(
        _ body: ChatBody, at time: Int64, replyTo seq: Int64? = nil, thread: Int64? = nil, isSilent: Bool = false
    ) async throws(ChatClientError) -> ScheduledMessage {
        let request = ScheduleRequest(
            id: self.engine.environment.makeID(), conversation: self.id, kind: body.kind, body: body.fields, ref: seq, thread: thread,
            isSilent: isSilent, sendAt: time)
        return try await self.engine.askPatiently(ChatVerbs.schedule, request).scheduled
    }

    /// Returns a page of the own messages of this conversation that the server will send later.
    /// ``ChatClient/unschedule(_:)`` removes one.
    ///
    /// - Parameter page: The position that the page before ended at; nil for the first page.
    /// - Returns: The messages, and the position of the next page; nil on the last one.
    public func scheduled(after page: PageToken? = nil) async throws(ChatClientError) -> (messages: [ScheduledMessage], next: PageToken?) {
        let answer = try await self.engine.askPatiently(ChatVerbs.scheduled, ScheduledRequest(conversation: self.id, page: page))
        return (answer.scheduled, answer.page)
    }

    // MARK: Other conversations

    /// Pins or unpins a message for all.
    public func pin(_ seq: Int64, isOn: Bool = true) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.pin, PinRequest(id: id, conversation: self.id, ref: seq, isRemoval: !isOn))
    }

    /// Sets the own votes in a poll.
    public func vote(_ seq: Int64, options: [Int64]) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.vote, VoteRequest(id: id, conversation: self.id, ref: seq, options: options))
    }

    /// Ends a poll.
    public func closePoll(_ seq: Int64) async throws(ChatClientError) {
        let id = self.engine.environment.makeID()
        _ = try await self.engine.askPatiently(ChatVerbs.pollClose, PollCloseRequest(id: id, conversation: self.id, ref: seq))
    }

    /// Forwards messages of this conversation to another one.
    ///
    /// - Parameters:
    ///   - seqs: The places of the messages in the log.
    ///   - target: The other conversation.
    ///   - title: The title of one message that contains all; nil forwards each by itself.
    ///   - isAnonymous: Whether the senders are left out.
    public func forward(
        _ seqs: [Int64], to target: ConversationID, bundledAs title: String? = nil, isAnonymous: Bool = false
    ) async throws(ChatClientError) {
        let request = ForwardRequest(
            id: self.engine.environment.makeID(), conversation: target, source: self.id, seqs: seqs, isBundle: title != nil, title: title,
            isAnonymous: isAnonymous)
        _ = try await self.engine.askPatiently(ChatVerbs.forward, request)
    }
}
