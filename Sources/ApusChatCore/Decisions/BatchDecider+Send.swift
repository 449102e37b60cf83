import ApusChatProtocol
import ApusChatStorage

extension BatchDecider {
    /// Decides a `send` request, as docs/chat-model.md describes.
    mutating func send(_ send: SendCommand, by command: Command) throws(ChatError) -> Decision {
        let actor = command.actor
        let conversation = send.conversation
        guard let request = command.request else {
            throw ChatError(.badRequest, message: "`id` is required.", field: "id")
        }
        // A retry is answered with the first answer before any check, even if the message was
        // edited or recalled, or its sender was removed.
        let address = SendAddress(conversation, actor, request.id)
        if let sent = self.facts.sends[address] {
            guard sent.hash == request.hash else { throw .reusedID }
            return .repeated(StoredAnswer(conversation: conversation, seq: sent.seq, n: sent.n, at: sent.at))
        }
        let member = try self.authorize(.send, actor, in: conversation)
        let content = try send.content.get()
        if content.mentionsAll { _ = try self.authorize(.mentionAll, actor, in: conversation) }
        try self.checkReference(send.ref, member: member)
        try self.checkReference(send.thread, member: member)
        try self.checkPace(member, ifEpoch: send.ifEpoch)
        let mentions = content.mentions.isEmpty ? [] : self.members(content.mentions, of: conversation)
        try self.checkBlobs(content.blobs, of: actor)

        let answer = self.append(
            content.kind, to: conversation, by: actor, request: request, isMessage: true, ref: send.ref, body: content.body
        ) { event in
            event.thread = send.thread
            event.mentions = mentions
            event.mentionsAll = content.mentionsAll
            event.preparePoll(content)
        }
        if send.isSilent { self.silent.insert(EventAddress(conversation, answer.seq)) }
        self.facts.sends.set(address, SentFact(hash: request.hash, seq: answer.seq, n: answer.n, at: answer.at))
        self.countOwnMessage(n: answer.n, of: member.address)
        if send.thread > 0 {
            self.modifyTarget(EventAddress(conversation, send.thread)) { first in
                first.replyCount += 1
                first.lastReply = answer.seq
            }
        }
        for blob in content.blobs { self.blobReferences.append(BlobReference(event: EventAddress(conversation, answer.seq), blob: blob)) }
        return .accepted(answer)
    }

    /// Sends several messages with consecutive positions.
    ///
    /// - Returns: The answer for the first message; its `text` is the number of messages.
    mutating func forward(
        _ contents: Result<[MessageContent], ChatError>, to conversation: ConversationKey, isSilent: Bool, by actor: UserKey
    ) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.send, actor, in: conversation)
        let contents = try contents.get()
        guard !contents.isEmpty, contents.count <= ChatLimits.bundleMessages else {
            throw ChatError(.limit, message: "`seqs` must name 1 to \(ChatLimits.bundleMessages) messages.", field: "seqs")
        }
        try self.checkPace(member, ifEpoch: nil)
        for content in contents { try self.checkBlobs(content.blobs, of: actor) }
        // A mention of all members in a forwarded message only takes effect if the sender may
        // mention all members here.
        let mayMentionAll = (try? self.authorize(.mentionAll, actor, in: conversation)) != nil
        var first: StoredAnswer?
        for content in contents {
            let mentions = content.mentions.isEmpty ? [] : self.members(content.mentions, of: conversation)
            let answer = self.append(content.kind, to: conversation, by: actor, isMessage: true, body: content.body) { event in
                event.mentions = mentions
                event.mentionsAll = content.mentionsAll && mayMentionAll
                event.preparePoll(content)
            }
            self.countOwnMessage(n: answer.n, of: member.address)
            for blob in content.blobs {
                self.blobReferences.append(BlobReference(event: EventAddress(conversation, answer.seq), blob: blob))
            }
            if isSilent { self.silent.insert(EventAddress(conversation, answer.seq)) }
            first = first ?? answer
        }
        guard var answer = first else { throw .noMessage }
        answer.text = String(contents.count)
        return answer
    }

    /// Updates the sender's row after a message. The read position moves only if the sender had
    /// read all earlier messages, because an outbox or a program can send without reading. If the
    /// sender had removed the pair from the list, it is listed again.
    mutating func countOwnMessage(n: Int64, of address: MemberAddress) {
        let time = self.time
        if self.facts.members[address]?.isGone == true {
            self.facts.members.modify(address) { $0.isGone = false }
            self.pushes.append(.head(address.conversation, of: address.user))
        }
        self.facts.members.modify(address) { member in
            if max(member.readN, member.floorN) == n - 1 {
                member.readN = n
            } else {
                member.skipped += 1
            }
            member.lastSentAt = time
        }
    }

    /// Applies an event of a pair to the other user. A message makes the conversation appear in
    /// that user's list again. If that user blocks the sender, the event is hidden without a
    /// notification of the sender; a recall is not hidden, because it removes content.
    mutating func deliver(_ answer: StoredAnswer, _ kind: EventKind, toPeerOf sender: UserKey, in pair: PairAddress) {
        let peer = MemberAddress(answer.conversation, pair.low == sender ? pair.high : pair.low)
        guard let row = self.facts.members[peer] else { return }
        if row.blocksPeer {
            guard kind != .recall else { return }
            self.hide(AnnotationAddress(EventAddress(answer.conversation, answer.seq), peer.user), n: answer.n)
            if answer.n > 0 { self.facts.members.modify(peer) { $0.skipped += 1 } }
        } else if row.isGone, answer.n > 0 {
            self.facts.members.modify(peer) { $0.isGone = false }
            self.pushes.append(.head(answer.conversation, of: peer.user))
        }
    }

    mutating func hide(_ address: AnnotationAddress, n: Int64) {
        var annotation = self.facts.annotations[address] ?? AnnotationRow(address: address, n: n)
        annotation.isHidden = true
        self.facts.annotations.set(address, annotation)
        self.hidden.append(HiddenMessage(address: address, n: n))
    }

    /// Checks the epoch and slow mode. Slow mode does not apply to admins and the owner.
    private func checkPace(_ member: MemberRow, ifEpoch: Int64?) throws(ChatError) {
        guard let conversation = self.facts.conversations[member.address.conversation] else { throw .noConversation }
        if let ifEpoch, ifEpoch != conversation.counters.epoch {
            throw ChatError(
                .epoch, message: "`if_epoch` must be the epoch of the conversation, \(conversation.counters.epoch).", field: "if_epoch")
        }
        let interval = conversation.settings.slow * 1_000
        // A last message after the current time was stamped before the clock was set back and the
        // server restarted. The time since then is unknown, so the member does not wait.
        let wait = member.lastSentAt <= self.time ? member.lastSentAt + interval - self.time : 0
        if interval > 0, wait > 0, member.role.rank < MemberRole.admin.rank {
            throw ChatError(
                .tooMany, message: "In slow mode, a member can send one message every \(interval / 1_000) s.", retryAfter: wait)
        }
    }

    private func checkReference(_ ref: Int64, member: MemberRow) throws(ChatError) {
        guard ref != 0 else { return }
        let last = self.facts.conversations[member.address.conversation]?.counters.lastSeq ?? 0
        guard ref >= member.minSeq, ref <= last else { throw .noMessage }
    }

    /// Returns the users who are members. A mention of another user has no effect.
    private func members(_ users: [UserKey], of conversation: ConversationKey) -> [UserKey] {
        users.filter { self.facts.members[MemberAddress(conversation, $0)]?.state == .joined }
    }

    /// Checks that the sender may read the blobs to which the message refers.
    func checkBlobs(_ blobs: [BlobID], of user: UserKey) throws(ChatError) {
        for blob in blobs where !self.facts.readableBlobs.contains(BlobNeed(user: user, blob: blob)) {
            throw ChatError(.notFound, message: "The blob `\(blob)` does not exist, or you may not read it.", field: "blob")
        }
    }
}

extension EventRow {
    /// Initializes the vote counts of a poll.
    fileprivate mutating func preparePoll(_ content: MessageContent) {
        self.allowsManyVotes = content.allowsManyVotes
        self.hidesVoters = content.hidesVoters
        self.closesAt = content.closesAt
        if content.options > 0 { self.votes = [Int64](repeating: 0, count: content.options) }
    }
}
