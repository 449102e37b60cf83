/// `sync`: requests the heads that changed since an earlier sync, in pages.
package struct SyncRequest: Hashable, WireObject {
    /// The token of the last complete sync; nil requests all heads.
    package var since: PageToken?
    /// The `page` of the previous answer; nil requests the first page.
    package var page: PageToken?

    package init(since: PageToken? = nil, page: PageToken? = nil) {
        self.since = since
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.since = try reader.textIfPresent("since")
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("since", ifPresent: self.since)
        writer.write("page", ifPresent: self.page)
    }
}

/// The answer to `sync`.
///
/// Without `since`, the first page contains the pinned conversations and the newest ones. The other
/// pages follow in the order of the last changes. With `since`, the pages contain the changed
/// conversations in a fixed order, each as a head or in `gone`. A conversation that changes between
/// two pages can be missing; the next sync contains it.
package struct SyncAnswer: Hashable, WireObject {
    package var heads: [ChatHead]
    /// The conversations that are no longer in the user's list.
    package var gone: [ConversationID]
    /// The token of the next page; nil on the last page.
    package var page: PageToken?
    /// The token of this sync. It is read before the first page and is the same on every page. The
    /// client stores it together with the last page.
    package var token: PageToken
    /// The total number of unread messages in all conversations that are not muted; nil on every
    /// page except the first.
    package var badge: Int64?

    package init(heads: [ChatHead], gone: [ConversationID] = [], page: PageToken? = nil, token: PageToken, badge: Int64? = nil) {
        self.heads = heads
        self.gone = gone
        self.page = page
        self.token = token
        self.badge = badge
    }

    package init(from reader: WireReader) throws(WireError) {
        self.heads = try reader.objects("heads", maximum: ChatLimits.headsPage)
        self.gone = try reader.texts("gone", maximum: ChatLimits.conversations)
        self.page = try reader.textIfPresent("page")
        self.token = try reader.text("token")
        self.badge = try reader.integerIfPresent("badge")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("heads", all: self.heads)
        writer.write("gone", ifAny: self.gone)
        writer.write("page", ifPresent: self.page)
        writer.write("token", self.token)
        writer.write("badge", ifPresent: self.badge)
    }
}
