import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Settings of users, and contacts.
extension Oracle {
    func tie(_ owner: UserKey, _ peer: UserKey) -> Tie { self.ties[ContactAddress(owner: owner, peer: peer)] ?? Tie() }

    private func relate(_ owner: UserKey, _ peer: UserKey, _ relation: ContactRelation) {
        self.ties[ContactAddress(owner: owner, peer: peer), default: Tie()].relation = relation
    }

    func personalize(_ key: ConversationKey, _ change: OwnChange, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(.personalize, actor, key, at: time)
        switch change {
        case .draft(let text):
            guard !text.isEmpty || person.draftSeq > 0 else { return .unchanged }
            if let own = self.own[actor], person.draftSeq > 0 { self.blank(EventAddress(own, person.draftSeq), .erased) }
            let verdict = self.appendToOwn(.selfDraft, of: actor, at: time)
            guard case .accepted(let seq, _) = verdict else { return verdict }
            book.people[actor]?.draft = text
            book.people[actor]?.draftSeq = text.isEmpty ? 0 : seq
            return verdict
        case .pin(let isOn):
            guard person.isPinned != isOn else { return .unchanged }
            book.people[actor]?.isPinned = isOn
            return self.appendToOwn(.selfPin, of: actor, at: time)
        case .mute(let until):
            book.people[actor]?.mutedUntil = until
            return self.appendToOwn(.selfMute, of: actor, at: time)
        case .archive(let isOn):
            book.people[actor]?.isArchived = isOn
            return self.appendToOwn(.selfArchive, of: actor, at: time)
        case .markUnread(let isOn):
            book.people[actor]?.isMarkedUnread = isOn
            return self.appendToOwn(.selfUnread, of: actor, at: time)
        case .notifyMentionsOnly: return self.appendToOwn(.selfMute, of: actor, at: time)
        case .folders: throw Refusal(.unsupported)
        }
    }

    func contact(_ peer: UserKey?, _ change: ContactChange, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        guard let peer, peer != actor, self.own[peer] != nil, !self.deleted.contains(peer) else { throw Refusal(.notFound) }
        switch change {
        case .request: return try self.request(peer, by: actor, at: time)
        case .answer(let accepts):
            guard self.tie(actor, peer).relation == .requested else { throw Refusal(.notFound) }
            return try accepts ? self.request(peer, by: actor, at: time) : self.contact(peer, .remove, by: actor, at: time)
        case .remove:
            guard self.tie(actor, peer).relation != .none else { return .unchanged }
            self.relate(actor, peer, .none)
            self.relate(peer, actor, .none)
            return self.appendToOwn(.contactRemove, of: actor, at: time)
        case .alias: return self.appendToOwn(.contactAlias, of: actor, at: time)
        case .block(let isOn):
            guard self.tie(actor, peer).isBlocked != isOn else { return .unchanged }
            self.ties[ContactAddress(owner: actor, peer: peer), default: Tie()].isBlocked = isOn
            if let pair = self.pair(actor, peer) {
                pair.people[actor]?.blockSeq = isOn ? pair.lastSeq : 0
                pair.people[actor]?.hasBlocked = true
            }
            return self.appendToOwn(isOn ? .contactBlock : .contactUnblock, of: actor, at: time)
        }
    }

    /// Decides on a contact request. Two requests in opposite directions make the users contacts. A
    /// user who blocks the sender receives no request.
    private func request(_ peer: UserKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        switch self.tie(actor, peer).relation {
        case .friend, .asked: return .unchanged
        case .requested:
            self.relate(actor, peer, .friend)
            self.relate(peer, actor, .friend)
            self.appendToOwn(.contactAccept, of: peer, at: time)
            return self.appendToOwn(.contactAccept, of: actor, at: time)
        case .none:
            try self.checkInvitations(of: actor, 1, at: time)
            self.countInvitations(of: actor, 1, at: time)
            self.relate(actor, peer, .asked)
            if !self.tie(peer, actor).isBlocked {
                self.relate(peer, actor, .requested)
                self.appendToOwn(.contactRequest, of: peer, at: time)
            }
            return self.appendToOwn(.contactRequest, of: actor, at: time)
        }
    }
}
