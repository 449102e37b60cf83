import ApusChatProtocol
import ApusChatStorage
import ApusJSON

extension ReadContext {
    /// Converts heads to the protocol.
    func heads(_ rows: [HeadRow]) throws -> [ChatHead] {
        let needsFolders = rows.contains { $0.member.folders != 0 }
        let folders = needsFolders ? try self.account().folders : []
        return try rows.map { try self.head($0, folders: folders) }
    }

    func head(_ row: HeadRow) throws -> ChatHead {
        try self.head(row, folders: row.member.folders == 0 ? [] : self.account().folders)
    }

    private func head(_ row: HeadRow, folders: [FolderRow]) throws -> ChatHead {
        let (conversation, member) = (row.conversation, row.member)
        var head = ChatHead(
            conversation: ConversationID(conversation.key), kind: conversation.kind, state: member.state, role: member.role,
            seq: 0, n: 0, at: member.state == .joined ? conversation.counters.lastAt : member.since)
        let isGroup = conversation.kind == .group || conversation.kind == .channel
        if isGroup {
            head.title = conversation.profile.title.isEmpty ? nil : conversation.profile.title
            head.avatar = conversation.profile.avatar
            head.members = Int64(conversation.counters.memberCount)
        }
        head.peer = try self.peer(of: row)
        // An invited user sees only the title and the inviter.
        guard let view = MemberView(member) else { return head }
        head.settings = isGroup || conversation.settings.expire > 0 ? conversation.settings : nil
        head.minSeq = max(1, view.first)
        head.seq = min(view.last, conversation.counters.lastSeq)
        head.last = try row.last.map { try self.preview($0, in: conversation.key) }
        head.own = self.own(row, folders: folders)
        guard member.state == .joined else {
            head.n = max(member.readN, head.last?.n ?? 0)
            head.read = head.n
            return head
        }
        head.n = conversation.counters.lastN
        head.membersVersion = isGroup ? conversation.counters.membersVersion : 0
        head.read = max(member.readN, member.floorN)
        head.unread = row.unread
        head.mentions = row.mentions
        head.pins = row.pins
        head.silencedUntil = member.silencedUntil > 0 ? member.silencedUntil : nil
        head.call = conversation.counters.callSeq > 0 ? conversation.counters.callSeq : nil
        return head
    }

    private func peer(of row: HeadRow) throws -> ChatUser? {
        if let pair = row.conversation.pair {
            return try self.users([pair.low == self.viewer ? pair.high : pair.low]).first
        }
        guard row.member.state == .invited, row.member.invitedBy != UserKey(0) else { return nil }
        return try self.users([row.member.invitedBy]).first
    }

    private func own(_ row: HeadRow, folders: [FolderRow]) -> OwnSettings {
        let member = row.member
        return OwnSettings(
            pinnedAt: member.pinnedAt > 0 ? member.pinnedAt : nil, isArchived: member.isArchived,
            mutedUntil: member.mutedUntil > 0 ? member.mutedUntil : nil, notify: member.notifiesMentionsOnly ? .mentions : .all,
            isMarkedUnread: member.isMarkedUnread, draft: self.draft(row),
            folders: folders.filter { member.folders & $0.mask != 0 }.map(\.folder.name))
    }

    private func draft(_ row: HeadRow) -> Draft? {
        guard !row.draft.isEmpty, let body = (try? JSONValue(jsonString: row.draft))?.objectValue,
            let draft = body["draft"]?.objectValue, let text = draft["text"]?.stringValue
        else { return nil }
        return Draft(text: text, ref: draft["ref"]?.intValue.map(Int64.init), at: row.draftAt)
    }
}
