import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension VerbTable {
    mutating func addSearch() {
        self.read(ChatVerbs.search, rate: .search) { request, context in try context.search(request) }
    }
}

extension ReadContext {
    fileprivate func search(_ request: SearchRequest) throws -> SearchAnswer {
        let words = SearchWords(request.query)
        guard !words.phrases.isEmpty || request.query.isEmpty else {
            throw ChatError(.badRequest, message: "`query` must have a letter, a digit or an emoji.", field: "query")
        }
        var need = SearchNeed(words: words)
        if let conversation = request.conversation { need.conversation = try self.head(conversation.key).conversation.key }
        if let sender = request.sender {
            guard let key = try self.names.keys(of: [sender], self.reads)[0] else { return SearchAnswer(hits: []) }
            need.sender = key
        }
        (need.kinds, need.from, need.until) = (request.kinds, request.fromAt, request.untilAt)
        need.cursor = try PageText.key(request.page)
        let page = try self.reads.search(need, as: self.viewer, limit: ChatLimits.searchPage)
        let names = try self.names.names(of: Set(page.hits.compactMap { $0.view.row?.sender }), self.reads)
        var hits: [SearchHit] = []
        var (next, last) = (page.next, page.next)
        var bytes = 0
        for hit in page.hits {
            let view = self.served(hit.view)
            guard let row = view.row, need.matches(row) else { continue }
            let (snippet, ranges) = row.searchText.flatMap { words.snippet(of: $0) } ?? ("", [])
            let found = SearchHit(event: ChatEvent(view, in: hit.conversation, names: names), snippet: snippet, ranges: ranges)
            bytes += AnswerSize.bytes(found) + 1
            guard hits.isEmpty || bytes <= AnswerSize.pageBytes else {
                next = last
                break
            }
            hits.append(found)
            last = hit.cursor
        }
        return SearchAnswer(hits: hits, page: try next.map { try PageText.token(after: $0) }, indexedAt: page.indexedAt)
    }
}
