import ApusChatProtocol
package import ApusChatStorage

extension Command {
    /// Adds the keys of the rows that the decision on this command reads.
    package func addNeeds(to needs: inout Needs) {
        switch self.action {
        case .send(let send):
            self.addSend(send, id: self.request?.id, to: &needs)
            return  // a retry of `send` is recognized by the stored event
        case .sendScheduled(let address, let send):
            self.addSend(send, id: address.id, to: &needs)
            needs.scheduled.append(address)
            return
        case .schedule(let schedule):
            self.addSend(schedule.send, id: nil, to: &needs)
            if let request = self.request { needs.scheduled.append(ScheduledAddress(self.actor, request.id)) }
            needs.scheduledCounts.append(self.actor)
        case .unschedule(let id): needs.scheduled.append(ScheduledAddress(self.actor, id))
        case .mark(let mark):
            self.addMember(self.actor, of: mark.conversation, to: &needs)
            needs.skips.append(SkipNeed(member: MemberAddress(mark.conversation, self.actor), above: mark.read))
            return
        case .forward(let conversation, let contents, _):
            self.addMember(self.actor, of: conversation, to: &needs)
            if case .success(let contents) = contents {
                for content in contents {
                    self.addBlobs(content.blobs, to: &needs)
                    for user in content.mentions { needs.members.append(MemberAddress(conversation, user)) }
                }
            }
        case .edit(let target, let content):
            self.addTarget(target, to: &needs)
            if case .success(let content) = content { self.addBlobs(content.blobs, to: &needs) }
        case .removePreview(let target), .recall(let target), .react(let target, _, _), .vote(let target, _), .closePoll(let target),
            .pin(let target, _), .updateCall(let target, _):
            self.addTarget(target, to: &needs)
        case .setPreview(let preview): self.addTarget(preview.target, to: &needs)
        case .hide(let conversation, let seqs):
            self.addMember(self.actor, of: conversation, to: &needs)
            for seq in seqs { self.addTarget(EventAddress(conversation, seq), to: &needs, isChanged: false) }
            needs.accounts.append(self.actor)
        case .openPair(let peer, let new):
            needs.conversations.append(new)
            needs.accounts.append(self.actor)
            if let peer { self.addPeer(peer, to: &needs) }
        case .create(let create):
            needs.conversations.append(create.new)
            needs.accounts.append(self.actor)
            for user in create.members.lazy.compactMap({ $0 }) { self.addInvited(user, to: create.new, &needs) }
        case .invite(let conversation, let users):
            self.addMember(self.actor, of: conversation, to: &needs)
            needs.accounts.append(self.actor)
            for user in users.lazy.compactMap({ $0 }) { self.addInvited(user, to: conversation, &needs) }
        case .set(let conversation, let update):
            self.addMember(self.actor, of: conversation, to: &needs)
            if case .some(.some(let avatar)) = update.avatar { self.addBlobs([avatar], to: &needs) }
        case .startCall(let conversation, _, _), .delete(let conversation): self.addMember(self.actor, of: conversation, to: &needs)
        case .join(let conversation), .answerInvitation(let conversation, _), .personalize(let conversation, _),
            .personalizeAll(let conversation, _):
            self.addMember(self.actor, of: conversation, to: &needs)
            needs.accounts.append(self.actor)
        case .joinByLink(let code), .revokeLink(let code):
            needs.links.append(LinkNeed(code: code, user: self.actor))
            needs.accounts.append(self.actor)
        case .createLink(let conversation, let terms):
            self.addMember(self.actor, of: conversation, to: &needs)
            needs.links.append(LinkNeed(code: terms.code, user: self.actor))
        case .leave(let conversation, _):
            self.addMember(self.actor, of: conversation, to: &needs)
            needs.accounts.append(self.actor)
            needs.successors.append(conversation)
        case .answerRequest(let conversation, let user, _), .transfer(let conversation, let user):
            self.addSubordinates([user], of: conversation, to: &needs)
        case .remove(let conversation, let users), .ban(let conversation, let users, _, _), .silence(let conversation, let users, _),
            .setRole(let conversation, let users, _):
            self.addSubordinates(users, of: conversation, to: &needs)
        case .updateProfile(let update):
            needs.accounts.append(self.actor)
            if case .some(.some(let avatar)) = update.avatar { self.addBlobs([avatar], to: &needs) }
        case .contact(let peer, let change):
            needs.accounts.append(self.actor)
            if let peer { self.addPeer(peer, to: &needs) }
            switch change {
            case .request, .answer, .block: needs.contactCounts += [self.actor, peer].compactMap { $0 }
            case .remove, .alias: break
            }
        case .report(let user, let events, let conversation, _, _):
            if let user { needs.accounts.append(user) }
            for event in events { self.addTarget(event, to: &needs, isChanged: false) }
            if let conversation { self.addMember(self.actor, of: conversation, to: &needs) }
        case .dismiss(let conversation, let users):
            needs.conversations.append(conversation)
            for user in users { needs.members.append(MemberAddress(conversation, user)) }
        case .finishErasure(let user): needs.accounts.append(user)
        case .noteDevice: needs.accounts.append(self.actor)
        case .blank(let targets, _):
            for target in targets {
                needs.conversations.append(target.conversation)
                needs.events.append(target)
            }
        }
        if let request = self.request { needs.requests.append(RequestAddress(self.actor, request.id)) }
    }

    /// The conversation by which commands are grouped in a batch; nil if it is not known from the
    /// command.
    package var conversation: ConversationKey? {
        switch self.action {
        case .send(let send), .sendScheduled(_, let send): send.conversation
        case .schedule(let schedule): schedule.send.conversation
        case .mark(let mark): mark.conversation
        case .edit(let target, _), .removePreview(let target), .recall(let target), .react(let target, _, _), .vote(let target, _),
            .closePoll(let target), .pin(let target, _), .updateCall(let target, _):
            target.conversation
        case .hide(let key, _), .set(let key, _), .invite(let key, _), .join(let key), .answerInvitation(let key, _),
            .answerRequest(let key, _, _), .leave(let key, _), .remove(let key, _), .ban(let key, _, _, _), .silence(let key, _, _),
            .startCall(let key, _, _), .forward(let key, _, _), .setRole(let key, _, _), .transfer(let key, _), .createLink(let key, _),
            .personalize(let key, _), .personalizeAll(let key, _), .delete(let key), .dismiss(let key, _):
            key
        case .create(let create): create.new
        case .blank(let targets, _): targets.first?.conversation
        case .setPreview(let preview): preview.target.conversation
        case .openPair, .joinByLink, .revokeLink, .updateProfile, .contact, .report, .unschedule, .finishErasure, .noteDevice: nil
        }
    }

    /// The approximate number of bytes that the command adds to the log.
    package var byteCount: Int {
        switch self.action {
        case .send(let send), .sendScheduled(_, let send): 200 + ((try? send.content.get().body.utf8.count) ?? 0)
        case .schedule(let schedule): 400 + schedule.body.utf8.count
        case .edit(_, let content): 200 + 2 * ((try? content.get().body.utf8.count) ?? 0)
        case .forward(_, let contents, _): 200 + ((try? contents.get().reduce(0) { $0 + 200 + $1.body.utf8.count }) ?? 0)
        case .setPreview(let preview): 200 + preview.after.utf8.count + preview.change.utf8.count
        default: 400
        }
    }

    private func addSend(_ send: SendCommand, id: ClientID?, to needs: inout Needs) {
        self.addMember(self.actor, of: send.conversation, to: &needs)
        if let id { needs.sends.append(SendAddress(send.conversation, self.actor, id)) }
        if send.thread > 0 { needs.events.append(EventAddress(send.conversation, send.thread)) }
        if case .success(let content) = send.content {
            for user in content.mentions { needs.members.append(MemberAddress(send.conversation, user)) }
            self.addBlobs(content.blobs, to: &needs)
        }
    }

    private func addMember(_ user: UserKey, of conversation: ConversationKey, to needs: inout Needs) {
        needs.conversations.append(conversation)
        needs.members.append(MemberAddress(conversation, user))
    }

    private func addTarget(_ target: EventAddress, to needs: inout Needs, isChanged: Bool = true) {
        self.addMember(self.actor, of: target.conversation, to: &needs)
        needs.events.append(target)
        if isChanged { needs.unseen.append(target) }
        needs.annotations.append(AnnotationAddress(target, self.actor))
    }

    private func addSubordinates(_ users: [UserKey?], of conversation: ConversationKey, to needs: inout Needs) {
        self.addMember(self.actor, of: conversation, to: &needs)
        needs.accounts.append(self.actor)
        for user in users.lazy.compactMap({ $0 }) {
            needs.members.append(MemberAddress(conversation, user))
            needs.accounts.append(user)
        }
    }

    private func addInvited(_ user: UserKey, to conversation: ConversationKey, _ needs: inout Needs) {
        needs.members.append(MemberAddress(conversation, user))
        needs.accounts.append(user)
        needs.contacts.append(ContactAddress(owner: user, peer: self.actor))
    }

    private func addPeer(_ peer: UserKey, to needs: inout Needs) {
        needs.accounts.append(peer)
        needs.contacts.append(ContactAddress(owner: self.actor, peer: peer))
        needs.contacts.append(ContactAddress(owner: peer, peer: self.actor))
        needs.pairs.append(PairAddress(self.actor, peer))
    }

    private func addBlobs(_ blobs: [BlobID], to needs: inout Needs) {
        for blob in blobs { needs.blobs.append(BlobNeed(user: self.actor, blob: blob)) }
    }
}
