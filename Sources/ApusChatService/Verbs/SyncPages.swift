import ApusChatProtocol
import ApusChatStorage

/// Creates the answers to `sync`: all heads, or the heads that changed since a position.
///
/// All pages of one sync contain the position before the first page, so that the next sync contains
/// changes between two pages.
struct SyncPages {
    let context: ReadContext

    func answer(_ request: SyncRequest) throws -> SyncAnswer {
        if let page = request.page {
            return try page.rawValue.hasPrefix("h~") ? self.headsPage(page) : self.changesPage(page)
        }
        let position = try self.context.reads.position()
        var answer: SyncAnswer
        if let since = request.since {
            guard let since = SyncPosition(since.rawValue) else { throw ChatError.resync }
            answer = try self.changes(since: since, token: position, after: nil)
        } else {
            answer = try self.heads(token: position, after: nil)
        }
        answer.badge = try self.context.reads.badge(of: self.context.viewer, at: self.context.now)
        return answer
    }

    // MARK: All heads

    private func headsPage(_ page: PageToken) throws -> SyncAnswer {
        let fields = try PageText.fields(page, tag: "h", count: 4)
        guard let token = SyncPosition(fields[0]) else { throw ChatError.wrongPage }
        let cursor = HeadsCursor(
            pinnedAt: try PageText.number(fields[1]), lastAt: try PageText.number(fields[2]),
            conversation: ConversationKey(try PageText.number(fields[3])))
        return try self.heads(token: token, after: cursor)
    }

    private func heads(token: SyncPosition, after cursor: HeadsCursor?) throws -> SyncAnswer {
        let limit = cursor == nil ? ChatLimits.pinnedConversations + ChatLimits.newestHeads : ChatLimits.headsPage
        let page = try self.context.reads.heads(of: self.context.viewer, after: cursor, limit: limit)
        var rows = page.heads
        if cursor == nil {
            // The first page contains the conversations that a client shows first.
            let first = rows.prefix { $0.member.pinnedAt > 0 }.count + ChatLimits.newestHeads
            rows.removeLast(max(0, rows.count - first))
        }
        let heads = try self.fitting(rows)
        var next: PageToken?
        if heads.count < page.heads.count || page.next != nil, heads.count > 0 {
            let cursor = rows[heads.count - 1].cursor
            next = try PageText.token([
                "h", token.description, String(cursor.pinnedAt), String(cursor.lastAt), String(cursor.conversation.rawValue),
            ])
        }
        return SyncAnswer(heads: heads, page: next, token: try Self.text(of: token))
    }

    // MARK: Changes

    private func changesPage(_ page: PageToken) throws -> SyncAnswer {
        let fields = try PageText.fields(page, tag: "c", count: 3)
        guard let since = SyncPosition(fields[0]), let token = SyncPosition(fields[1]) else { throw ChatError.wrongPage }
        return try self.changes(since: since, token: token, after: ConversationKey(try PageText.number(fields[2])))
    }

    private func changes(since: SyncPosition, token: SyncPosition, after cursor: ConversationKey?) throws -> SyncAnswer {
        let answer = try self.context.reads.changes(
            of: self.context.viewer, after: since, cursor: cursor, limit: ChatLimits.headsPage)
        guard case .page(let rows, var next) = answer else { throw ChatError.resync }
        let present = rows.filter { !$0.member.isGone }
        let heads = try self.fitting(present)
        var gone = rows.filter(\.member.isGone).map(\.conversation.key)
        if heads.count < present.count, heads.count > 0 {
            // The rows are in key order, so the page ends at the last head that fits.
            let last = present[heads.count - 1].conversation.key
            gone.removeAll { $0 > last }
            next = last
        }
        let page = try next.map { try PageText.token(["c", since.description, token.description, String($0.rawValue)]) }
        return SyncAnswer(heads: heads, gone: gone.map { ConversationID($0) }, page: page, token: try Self.text(of: token))
    }

    // MARK: Parts

    private static func text(of position: SyncPosition) throws -> PageToken {
        guard let token = PageToken(position.description) else {
            throw ChatError(.internal, message: "The server cannot encode the position of the sync.")
        }
        return token
    }

    /// Returns the heads of the first rows that fit into an answer.
    private func fitting(_ rows: [HeadRow]) throws -> [ChatHead] {
        let heads = try self.context.heads(rows)
        return Array(heads.prefix(AnswerSize.fitting(heads)))
    }
}

extension ChatError {
    static let resync = ChatError(
        .resync, message: "`since` is too old or belongs to another data epoch. Synchronize without it.", field: "since")
}
