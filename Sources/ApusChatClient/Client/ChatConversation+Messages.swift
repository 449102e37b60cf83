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
    public func reactions(to seq: Int64) async throws(ChatClientError) -> [Reaction] {
        try await self.engine.askPatiently(ChatVerbs.reactions, ReactionsRequest(conversation: self.id, ref: seq)).reactions
    }

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
