import ApusChatStorage
import ApusChatWire

extension BatchDecider {
    /// Decides a message. Source: docs/chat-model.md.
    mutating func send(_ send: SendCommand, by command: Command) throws(ChatError) -> Decision {
        let actor = command.actor
        let conversation = send.conversation
        guard let request = command.request else {
            throw ChatError(.badRequest, message: "A message needs an id.", field: "id")
        }
        // A retry gets the first ack before anything else is looked at: also after the message was
        // edited or recalled, and after its sender was removed.
        let address = SendAddress(conversation, actor, request.id)
        if let sent = self.facts.sends[address] {
            guard sent.hash == request.hash else { throw .reusedID }
            return .repeated(StoredAnswer(conversation: conversation, seq: sent.seq, n: sent.n, at: sent.at))
        }
        let member = try self.joined(actor, in: conversation)
        let content = try send.content.get()
        try self.checkReference(send.ref, member: member)
        let mentions = content.mentions.isEmpty ? [] : self.members(content.mentions, of: conversation)
        try self.checkBlobs(content.blobs, of: actor)

        let answer = self.append(
            content.kind, to: conversation, by: actor, request: request, isMessage: true, ref: send.ref, body: content.body
        ) { event in
            event.mentions = mentions
            event.mentionsAll = content.mentionsAll
            if content.options > 0 { event.votes = [Int64](repeating: 0, count: content.options) }
        }
        self.facts.sends.set(address, SentFact(hash: request.hash, seq: answer.seq, n: answer.n, at: answer.at))
        self.countOwnMessage(n: answer.n, of: member.address)
        self.deliverToPeer(answer, from: actor)
        for blob in content.blobs { self.blobReferences.append(BlobReference(event: EventAddress(conversation, answer.seq), blob: blob)) }
        return .accepted(answer)
    }

    /// A message moves its sender's read position only if the sender had read everything before it:
    /// what an offline outbox or a program sends reads nothing.
    private mutating func countOwnMessage(n: Int64, of address: MemberAddress) {
        let time = self.time
        self.facts.members.modify(address) { member in
            if max(member.readN, member.floorN) == n - 1 {
                member.readN = n
            } else {
                member.skipped += 1
            }
            member.lastSentAt = time
        }
    }

    /// In a pair, a message brings the conversation back to the other user's list, or is hidden
    /// from a user that blocks the sender, who does not learn it.
    private mutating func deliverToPeer(_ answer: StoredAnswer, from actor: UserKey) {
        guard let pair = self.facts.conversations[answer.conversation]?.pair else { return }
        let peer = MemberAddress(answer.conversation, pair.low == actor ? pair.high : pair.low)
        guard let row = self.facts.members[peer] else { return }
        if row.blocksPeer {
            self.hide(AnnotationAddress(EventAddress(answer.conversation, answer.seq), peer.user), n: answer.n)
            self.facts.members.modify(peer) { $0.skipped += 1 }
        } else if row.isGone {
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

    private func checkReference(_ ref: Int64, member: MemberRow) throws(ChatError) {
        guard ref != 0 else { return }
        let last = self.facts.conversations[member.address.conversation]?.counters.lastSeq ?? 0
        guard ref >= member.minSeq, ref <= last else { throw .noMessage }
    }

    /// Keeps the users that are members: a mention of others has no effect.
    private func members(_ users: [UserKey], of conversation: ConversationKey) -> [UserKey] {
        users.filter { self.facts.members[MemberAddress(conversation, $0)]?.state == .joined }
    }

    /// A reference can be made only to a blob that the sender may read.
    private func checkBlobs(_ blobs: [BlobID], of user: UserKey) throws(ChatError) {
        for blob in blobs where !self.facts.readableBlobs.contains(BlobNeed(user: user, blob: blob)) {
            throw ChatError(.notFound, message: "There is no upload \(blob).", field: "blob")
        }
    }
}
