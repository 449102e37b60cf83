import ApusChatProtocol
package import ApusChatStorage

extension SQLiteReads {
    /// The maximum number of conversations that one query of the index covers.
    private static let conversationsAtOnce = 400
    /// The maximum number of hits that one query returns.
    private static let hitsAtOnce = 64
    /// The maximum number of queries for one page. The limit bounds a search whose hits are mostly
    /// invisible to the user. The page of that search can be empty.
    private static let maximumLooks = 8

    /// A message that contains the words. The user may not be able to see it.
    private struct Candidate {
        var place: Int64
        var event: Int64
    }

    package func search(_ need: SearchNeed, as user: UserKey, limit: Int) throws(StorageError) -> SearchPage {
        self.renewSearchIndex()
        let isUsable = self.hasSearchIndex && self.searchHealth?.isDamaged != true
        if isUsable, let page = try self.hits(need, as: user, limit: limit) { return page }
        // The index is being rebuilt. Until then, the answer is that of an empty index.
        var page = SearchPage()
        page.indexedAt = 0
        return page
    }

    /// Returns a page of hits; nil if the index is damaged. The damage is reported to the writer of
    /// the index.
    private func hits(_ need: SearchNeed, as user: UserKey, limit: Int) throws(StorageError) -> SearchPage? {
        let generation = self.searchGeneration
        var isDamaged = false
        do throws(StorageError) {
            return try self.page(need, as: user, limit: limit, isDamaged: &isDamaged)
        } catch {
            guard isDamaged else { throw error }
            self.searchHealth?.damaged(generation)
            return nil
        }
    }

    /// Returns a page of hits.
    ///
    /// - Parameter isDamaged: Set to true if the index is damaged. Other errors concern the log.
    private func page(
        _ need: SearchNeed, as user: UserKey, limit: Int, isDamaged: inout Bool
    ) throws(StorageError) -> SearchPage {
        var page = SearchPage()
        return try self.connection.snapshot { () throws(StorageError) in
            page.indexedAt = try self.indexedAt(&isDamaged)
            let places = try self.places(of: user, need)
            guard !places.isEmpty, limit > 0, !need.words.phrases.isEmpty || need.isListing else { return page }
            var logs: [Int64: LogReader?] = [:]
            var cursor = need.cursor ?? .max
            for _ in 0..<Self.maximumLooks {
                let (candidates, end) = try self.candidates(need, Array(places.keys), before: cursor, &isDamaged)
                for candidate in candidates {
                    let slot = EventPlace.slot(candidate.event)
                    if logs[slot] == nil { logs[slot] = .some(try self.log(of: user, slot: slot, places[slot])) }
                    cursor = candidate.place
                    guard let log = logs[slot] ?? nil, let view = try log.event(EventPlace.seq(candidate.event)), let row = view.row,
                        need.admits(row), need.matches(row)
                    else { continue }
                    page.hits.append(SearchPage.Hit(conversation: log.conversation, view: view, cursor: cursor))
                    if page.hits.count == limit {
                        page.next = cursor
                        return page
                    }
                }
                guard let end else { return page }
                cursor = end
            }
            page.next = cursor
            return page
        }
    }

    /// Returns the slots of the conversations to search.
    private func places(of user: UserKey, _ need: SearchNeed) throws(StorageError) -> [Int64: ConversationKey] {
        if let key = need.conversation { return try self.slot(of: key).map { [$0: key] } ?? [:] }
        var places: [Int64: ConversationKey] = [:]
        try self.connection.statement(SearchQuery.places).with(user.rawValue).each { places[$0.int(0)] = ConversationKey($0.int(1)) }
        return places
    }

    private func log(of user: UserKey, slot: Int64, _ key: ConversationKey?) throws(StorageError) -> LogReader? {
        let member = try self.connection.statement(FactQuery.member).with(slot, user.rawValue).first { MemberColumns.row($0) }
        guard let key, let member, !member.isGone, let view = MemberView(member),
            try self.connection.statement(ListQuery.log).with(slot).first({ $0.bool(2) }) == false
        else { return nil }
        return LogReader(connection: self.connection, conversation: key, slot: slot, user: user, view: view)
    }

    /// Returns the newest messages before a place that contain the words, in descending order. Also
    /// returns the lowest place down to which the result is complete, or nil if there are no
    /// further messages.
    private func candidates(
        _ need: SearchNeed, _ slots: [Int64], before cursor: Int64, _ isDamaged: inout Bool
    ) throws(StorageError) -> ([Candidate], Int64?) {
        var found: [Candidate] = []
        var end: Int64?
        for start in stride(from: 0, to: slots.count, by: Self.conversationsAtOnce) {
            let part = slots[start..<min(slots.count, start + Self.conversationsAtOnce)]
            let hits = try self.fromIndex(&isDamaged) { () throws(StorageError) in
                let statement = try self.connection.statement(SearchQuery.hits)
                statement.bind(1, Self.expression(need, part))
                statement.bind(2, cursor)
                statement.bind(3, need.from ?? .min)
                statement.bind(4, need.until ?? .max)
                statement.bind(5, Int64(Self.hitsAtOnce))
                return try statement.all { Candidate(place: $0.int(0), event: $0.int(1)) }
            }
            if hits.count == Self.hitsAtOnce, let last = hits.last { end = max(end ?? .min, last.place) }
            found += hits
        }
        let complete = found.filter { $0.place >= end ?? .min }
        return (complete.sorted { $0.place > $1.place }, end)
    }

    /// Returns the full-text query. Terms consist of letters and digits, so they need no escaping.
    private static func expression(_ need: SearchNeed, _ slots: ArraySlice<Int64>) -> String {
        var parts = need.words.phrases.map { phrase in
            "terms : \"" + phrase.terms.joined(separator: " ") + "\"" + (phrase.isOpen ? " *" : "")
        }
        func scope(_ terms: [String]) -> String { "scope : (" + terms.map { "\"\($0)\"" }.joined(separator: " OR ") + ")" }
        parts.append(scope(slots.map(SearchFile.conversation)))
        if let sender = need.sender { parts.append(scope([SearchFile.sender(sender.rawValue)])) }
        if !need.kinds.isEmpty { parts.append(scope(need.kinds.map { SearchFile.kind($0.rawValue) })) }
        return parts.joined(separator: " AND ")
    }

    /// Runs a query that reads the index. Sets `isDamaged` if the query finds damage.
    private func fromIndex<Value>(
        _ isDamaged: inout Bool, _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        do throws(StorageError) { return try body() } catch {
            isDamaged = error.code == .corrupt
            if isDamaged { self.connection.hasFoundDamage = true }
            throw error
        }
    }

    private func indexedAt(_ isDamaged: inout Bool) throws(StorageError) -> Int64? {
        let position = try self.fromIndex(&isDamaged) { () throws(StorageError) in
            try self.connection.statement(SearchQuery.position).first { ($0.int(0), $0.int(2)) }
        }
        let last = try self.connection.statement(SearchQuery.lastPlace).number()
        guard let (place, at) = position else { return 0 }
        return place >= last ? nil : at
    }
}
