import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Changes of messages. Each change is an event and also updates the row of its target.
extension BatchDecider {
    mutating func edit(_ address: EventAddress, _ content: Result<MessageContent, ChatError>, by actor: UserKey) throws(ChatError)
        -> StoredAnswer
    {
        _ = try self.authorize(.editOwn, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        guard target.sender == actor else { throw ChatError(.forbidden, message: "Only the sender can edit a message.") }
        let age = self.time - target.at
        guard age <= self.rules.editMilliseconds else {
            throw ChatError(.tooLate, message: "A message can be edited for \(self.rules.editMilliseconds / 1_000) s after it was sent.")
        }
        let content = try content.get()
        guard content.kind == target.kind, Self.editableKinds.contains(target.kind) else {
            throw ChatError(
                .badRequest,
                message:
                    "A message of kind \(target.kind) cannot be edited to one of kind \(content.kind). Only text, image, audio, video and file messages can be edited, without a change of kind.",
                field: "body")
        }
        guard content.blobs.allSatisfy({ self.facts.readableBlobs.contains(BlobNeed(user: actor, blob: $0)) }) else {
            throw ChatError(.notFound, message: "The upload in `blob` does not exist, or you may not read it.", field: "blob")
        }
        let (time, seq) = (self.time, self.lastSeq(of: address.conversation) + 1)
        self.modifyTarget(address) { row in
            if row.original.isEmpty { row.original = row.body }
            row.body = content.body
            row.state = .edited
            row.editedAt = time
            row.editSeq = seq
        }
        for blob in content.blobs { self.blobReferences.append(BlobReference(event: address, blob: blob)) }
        return self.append(.edit, to: address.conversation, by: actor, ref: address.seq, body: ChangeBody.edit(content.body))
    }

    private static let editableKinds: Set<EventKind> = [.text, .image, .audio, .video, .file]

    /// Adds the preview of the first link to a text message.
    ///
    /// Has no effect if an edit or a recall has changed the body since the page was requested.
    mutating func setPreview(_ new: PreviewCommand) -> StoredAnswer {
        let address = new.target
        guard let row = self.row(address), row.kind == .text, !row.state.isBlank, row.body == new.before, row.body != new.after,
            self.facts.conversations[address.conversation]?.counters.isDeleted == false
        else { return self.unchanged(address.conversation) }
        self.modifyTarget(address) { $0.body = new.after }
        return self.append(.preview, to: address.conversation, by: row.sender, ref: address.seq, body: new.change)
    }

    /// Removes the preview of a text message. A message without a preview is left unchanged.
    mutating func removePreview(_ address: EventAddress, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.removePreview, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        guard target.sender == actor else {
            throw ChatError(.forbidden, message: "Only the sender can remove the preview of a message.")
        }
        guard self.time - target.at <= self.rules.editMilliseconds else {
            throw ChatError(
                .tooLate,
                message: "The preview of a message can be removed for \(self.rules.editMilliseconds / 1_000) s after it was sent.")
        }
        guard target.kind == .text, var body = (try? JSONValue(jsonString: target.body))?.objectValue, body["preview"] != nil else {
            return self.unchanged(address.conversation)
        }
        body["preview"] = nil
        let text = ChangeBody.text(body)
        self.modifyTarget(address) { $0.body = text }
        return self.append(.preview, to: address.conversation, by: actor, ref: address.seq)
    }

    mutating func recall(_ address: EventAddress, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.recallOwn, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        let mayRecallAll = (try? self.authorize(.recallOthers, actor, in: address.conversation)) != nil
        if !mayRecallAll {
            guard target.sender == actor else {
                throw ChatError(.forbidden, message: "Only the sender, the owner and admins can recall a message.")
            }
            guard self.time - target.at <= self.rules.recallMilliseconds else {
                throw ChatError(
                    .tooLate, message: "A message can be recalled for \(self.rules.recallMilliseconds / 1_000) s after it was sent.")
            }
        }
        try self.checkRemoval(of: target)
        self.blankTarget(address, .recalled)
        return self.append(.recall, to: address.conversation, by: member.address.user, ref: address.seq)
    }

    mutating func react(_ address: EventAddress, _ key: String, _ isOn: Bool, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.react, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        var annotation = self.annotation(address, of: actor, n: target.n)
        guard annotation.reactions.contains(key) != isOn else { return self.unchanged(address.conversation) }
        if isOn {
            guard annotation.reactions.count < ChatLimits.ownReactions else {
                throw ChatError(.limit, message: "A user can add at most \(ChatLimits.ownReactions) reactions to a message. Remove one.")
            }
            guard target.reactions.count < ChatLimits.reactions || target.reactions.contains(where: { $0.key == key }) else {
                throw ChatError(.limit, message: "A message has at most \(ChatLimits.reactions) different reactions.")
            }
            annotation.reactions.append(key)
        } else {
            annotation.reactions.removeAll { $0 == key }
        }
        self.facts.annotations.set(annotation.address, annotation)
        self.modifyTarget(address) { row in
            if let index = row.reactions.firstIndex(where: { $0.key == key }) {
                row.reactions[index].count += isOn ? 1 : -1
                if row.reactions[index].count <= 0 { row.reactions.remove(at: index) }
            } else if isOn {
                row.reactions.append(ReactionCount(key: key, count: 1))
            }
        }
        let body = ChangeBody.text(isOn ? ["key": .string(key)] : ["key": .string(key), "remove": .bool(true)])
        return self.append(.react, to: address.conversation, by: actor, ref: address.seq, body: body)
    }

    mutating func vote(_ address: EventAddress, _ options: [Int], by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.vote, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        guard target.kind == .poll else { throw ChatError(.badRequest, message: "The message is not a poll.", field: "ref") }
        guard !target.isClosed, target.closesAt == 0 || target.closesAt > self.time else {
            throw ChatError(.tooLate, message: "The poll has ended.")
        }
        guard options.allSatisfy({ target.votes.indices.contains($0) && $0 < 64 }), Set(options).count == options.count,
            target.allowsManyVotes || options.count <= 1
        else {
            throw ChatError(
                .badRequest,
                message:
                    "`options` must be distinct indices from 0 to \(target.votes.count - 1)\(target.allowsManyVotes ? "" : ", at most one").",
                field: "options")
        }
        var annotation = self.annotation(address, of: actor, n: target.n)
        let earlier = annotation.votes
        annotation.votes = options.reduce(0) { $0 | 1 << UInt64($1) }
        let votes = annotation.votes
        guard votes != earlier else { return self.unchanged(address.conversation) }
        self.facts.annotations.set(annotation.address, annotation)
        var totals: [Int64] = []
        self.modifyTarget(address) { row in
            for option in row.votes.indices where option < 64 {
                let bit = UInt64(1) << UInt64(option)
                row.votes[option] += (votes & bit != 0 ? 1 : 0) - (earlier & bit != 0 ? 1 : 0)
            }
            totals = row.votes
        }
        let body = target.hidesVoters ? "" : ChangeBody.text(["options": .array(options.map { .integer(Int64($0)) })])
        return self.append(.vote, to: address.conversation, by: actor, ref: address.seq, body: body) { $0.votes = totals }
    }

    /// Ends a poll. The actor `UserKey(0)` is the server, which ends a poll at its end time.
    mutating func closePoll(_ address: EventAddress, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        if actor == UserKey(0) { return self.endPoll(address) }
        _ = try self.authorize(.closePoll, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        guard target.kind == .poll else { throw ChatError(.badRequest, message: "The message is not a poll.", field: "ref") }
        guard target.sender == actor else { throw ChatError(.forbidden, message: "Only the sender can end a poll.") }
        guard !target.isClosed else { return self.unchanged(address.conversation) }
        self.modifyTarget(address) { $0.isClosed = true }
        return self.append(.pollClose, to: address.conversation, by: actor, ref: address.seq)
    }

    private mutating func endPoll(_ address: EventAddress) -> StoredAnswer {
        guard let row = self.row(address), !row.isClosed, !row.state.isBlank, row.closesAt > 0 else {
            return self.unchanged(address.conversation)
        }
        self.modifyTarget(address) { $0.isClosed = true }
        // No event is appended to the log of a deleted conversation.
        guard self.facts.conversations[address.conversation]?.counters.isDeleted == false else {
            return self.unchanged(address.conversation)
        }
        return self.append(.pollClose, to: address.conversation, by: row.sender, ref: address.seq)
    }

    mutating func pin(_ address: EventAddress, _ isOn: Bool, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.pin, actor, in: address.conversation)
        let target = try self.target(address, for: actor)
        guard target.isPinned != isOn else { return self.unchanged(address.conversation) }
        guard !isOn || (self.facts.conversations[address.conversation]?.counters.pinCount ?? 0) < ChatLimits.pinnedMessages else {
            throw ChatError(.limit, message: "A conversation has at most \(ChatLimits.pinnedMessages) pinned messages. Unpin one.")
        }
        self.modifyTarget(address) { $0.isPinned = isOn }
        self.facts.conversations.modify(address.conversation) { $0.counters.pinCount += isOn ? 1 : -1 }
        return self.append(
            .pin, to: address.conversation, by: actor, ref: address.seq, body: isOn ? "" : ChangeBody.text(["remove": .bool(true)]))
    }

    /// Hides events from the actor only ("delete for me").
    mutating func hide(_ seqs: [Int64], in conversation: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.hide, actor, in: conversation)
        for seq in seqs { _ = try self.target(EventAddress(conversation, seq), for: actor, includingBlank: true) }
        for seq in Set(seqs).sorted() {
            let address = EventAddress(conversation, seq)
            guard let target = self.row(address) else { continue }
            let annotation = AnnotationAddress(address, actor)
            guard !(self.facts.annotations[annotation]?.isHidden ?? false) else { continue }
            guard target.sender != actor else {
                // The actor's messages are already counted in `skipped`.
                var row = self.annotation(address, of: actor, n: target.n)
                row.isHidden = true
                self.facts.annotations.set(annotation, row)
                self.hidden.append(HiddenMessage(address: annotation, n: 0))
                continue
            }
            self.hide(annotation, n: target.n)
            if target.n > max(member.readN, member.floorN) { self.facts.members.modify(member.address) { $0.skipped += 1 } }
        }
        self.pushes.append(.head(conversation, of: actor))
        let body = ChangeBody.conversation(conversation, ["seqs": .array(seqs.map { .integer($0) })])
        return try self.appendToOwnLog(EventKind(.selfHide), of: actor, body: body)
    }

    /// Removes the content of events that have expired, or that an operator or the deletion of an
    /// account erases. No event is appended: clients store the times of expiry, and receive the
    /// state with the next page.
    mutating func blank(_ targets: [EventAddress], _ state: EventState) -> StoredAnswer {
        for address in targets where self.row(address)?.state.isBlank == false {
            self.blankTarget(address, state)
            self.facts.conversations.modify(address.conversation) { _ in }  // marks the heads as changed
        }
        return self.unchanged(targets.first?.conversation ?? ConversationKey(0))
    }
}

extension BatchDecider {
    /// Returns the row of an event, from this batch or from the storage.
    func row(_ address: EventAddress) -> EventRow? {
        if let row = self.facts.events[address] { return row }
        return self.events.last { $0.seq == address.seq && $0.conversation == address.conversation }
    }

    mutating func modifyTarget(_ address: EventAddress, _ body: (inout EventRow) -> Void) {
        if self.facts.events[address] != nil {
            self.facts.events.modify(address, body)
        } else if let index = self.events.lastIndex(where: { $0.seq == address.seq && $0.conversation == address.conversation }) {
            body(&self.events[index])
        }
    }

    /// Hides a change from the members who do not see its target, because an edit repeats the text
    /// of its target.
    mutating func conceal(_ change: EventAddress, withTarget target: EventAddress) {
        let users = self.facts.unseen[target] ?? []
        guard users.count <= Facts.maximumUnseen else {
            self.nudged.insert(change.conversation)
            return
        }
        let now = self.hidden.lazy.filter { $0.address.event == target }.map(\.address.user)
        // Members who joined in this batch are not among the facts.
        let latecomers = self.pushes.compactMap { push -> UserKey? in
            guard case .arrived(target.conversation, let user, let first) = push, first > target.seq else { return nil }
            return user
        }
        for user in Set(users).union(now).union(latecomers).sorted() {
            self.hidden.append(HiddenMessage(address: AnnotationAddress(change, user), n: 0))
        }
    }

    /// Returns the message that a change refers to.
    ///
    /// - Parameter includingBlank: Whether changes and messages without content are also returned.
    ///   Default: `false`.
    /// - Throws: `not_found` if the user does not see the event, or if its content was removed and
    ///   `includingBlank` is false.
    func target(_ address: EventAddress, for user: UserKey, includingBlank: Bool = false) throws(ChatError) -> EventRow {
        guard let view = MemberView(self.facts.members[MemberAddress(address.conversation, user)]), let row = self.row(address),
            row.isMessage || includingBlank, view.contains(row.seq), includingBlank || !row.state.isBlank,
            !(self.facts.annotations[AnnotationAddress(address, user)]?.isHidden ?? false)
        else { throw .noMessage }
        return row
    }

    private func annotation(_ address: EventAddress, of user: UserKey, n: Int64) -> AnnotationRow {
        let key = AnnotationAddress(address, user)
        return self.facts.annotations[key] ?? AnnotationRow(address: key, n: n)
    }

    /// Removes the content of a message and of its edits and previews in this batch. The storage
    /// removes the content of stored edits and previews.
    private mutating func blankTarget(_ address: EventAddress, _ state: EventState) {
        if self.row(address)?.isPinned == true {
            self.facts.conversations.modify(address.conversation) { $0.counters.pinCount -= 1 }
        }
        if self.facts.conversations[address.conversation]?.counters.callSeq == address.seq {
            // A running call could not be ended after the removal of its message.
            self.endCall(address)
            self.noteCall(address, .state(.ended, joined: nil))
        }
        if let row = self.row(address) { self.noteMentions(of: row) }
        self.modifyTarget(address) { $0.blank(state) }
        for index in self.events.indices
        where self.events[index].kind.repeatsContent && self.events[index].ref == address.seq
            && self.events[index].conversation == address.conversation
        {
            self.events[index].blank(state)
        }
        self.blanks.append(EventBlank(address: address, state: state))
    }
}
