import ApusChatProtocol

extension MemoryStorage {
    /// Searches by examining every message. The cursor is the number of hits before the page.
    package func search(_ need: SearchNeed, as user: UserKey, limit: Int) -> SearchPage {
        var hits: [SearchPage.Hit] = []
        for (key, conversation) in self.conversations where need.conversation == nil || need.conversation == key {
            guard !conversation.row.counters.isDeleted, let member = conversation.members[user], !member.isGone,
                let view = MemberView(member)
            else { continue }
            for event in conversation.events where need.admits(event) {
                guard let shown = conversation.view(event.seq, as: view, of: user), let row = shown.row, need.matches(row) else { continue }
                hits.append(SearchPage.Hit(conversation: key, view: shown, cursor: 0))
            }
        }
        hits.sort { ($0.view.row?.at ?? 0, $0.conversation, $0.view.seq) > ($1.view.row?.at ?? 0, $1.conversation, $1.view.seq) }
        for index in hits.indices { hits[index].cursor = Int64(index + 1) }
        let start = min(hits.count, Int(clamping: need.cursor ?? 0))
        var page = SearchPage()
        page.hits = Array(hits[max(0, start)...].prefix(limit))
        page.next = start + page.hits.count < hits.count ? page.hits.last?.cursor : nil
        return page
    }
}
