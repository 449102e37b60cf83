/// `members`: requests the members of a conversation. The order is the same on every request.
package struct MembersRequest: Hashable, WireObject {
    package var conversation: ConversationID
    /// Text that the account name or the shown name must contain; nil for all members.
    package var query: String?
    /// The state of the listed users; `joined` by default. The owner and the admins can also
    /// request `invited`, `requested` and `banned`.
    package var state: MemberState?
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(
        conversation: ConversationID, query: String? = nil, state: MemberState? = nil, page: PageToken? = nil
    ) {
        self.conversation = conversation
        self.query = query
        self.state = state
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.query = try reader.stringIfPresent("query", minimum: 1, maximum: ChatLimits.queryLength)
        self.state = try reader.knownChoiceIfPresent("state")
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("query", ifPresent: self.query)
        writer.write("state", ifPresent: self.state)
        writer.write("page", ifPresent: self.page)
    }
}

/// The answer to `members`.
package struct MembersAnswer: Hashable, WireObject {
    package var members: [ChatMember]
    /// The version of the list at the time of this page. If it differs from the version of the
    /// previous page, the list changed between the two pages.
    package var version: Int64
    /// The number of members on all pages.
    package var total: Int64
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(members: [ChatMember], version: Int64, total: Int64, page: PageToken? = nil) {
        self.members = members
        self.version = version
        self.total = total
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.members = try reader.objects("members", maximum: ChatLimits.membersPage)
        self.version = try reader.integer("version")
        self.total = try reader.integer("total")
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("members", all: self.members)
        writer.write("version", self.version)
        writer.write("total", self.total)
        writer.write("page", ifPresent: self.page)
    }
}
