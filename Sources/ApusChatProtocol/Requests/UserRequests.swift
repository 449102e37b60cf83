/// `profile.set`: changes the user's profile, which other users see. Absent fields remain
/// unchanged.
package struct ProfileSetRequest: Hashable, WireObject {
    package var id: ClientID
    /// The shown name; an empty string removes it.
    package var nick: String?
    /// The picture, or its removal.
    package var avatar: BlobChange?
    /// The status text; an empty string removes it.
    package var status: String?

    package init(id: ClientID, nick: String? = nil, avatar: BlobChange? = nil, status: String? = nil) {
        self.id = id
        self.nick = nick
        self.avatar = avatar
        self.status = status
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.nick = try reader.nicknameIfPresent("nick", orEmpty: true, maximum: ChatLimits.nickLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.status = try reader.stringIfPresent("status", maximum: ChatLimits.statusLength)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("nick", ifPresent: self.nick)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("status", ifPresent: self.status)
    }
}

/// The answer to `profile.set`.
package struct UserAnswer: Hashable, WireObject {
    /// The user, with the new profile.
    package var user: ChatUser

    package init(user: ChatUser) {
        self.user = user
    }

    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.object("user")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
    }
}

/// `users`: requests users by their names. The answer omits unknown names.
package struct UsersRequest: Hashable, WireObject {
    package var names: [UserName]

    package init(names: [UserName]) {
        self.names = names
    }

    package init(from reader: WireReader) throws(WireError) {
        self.names = try reader.texts("names", minimum: 1, maximum: ChatLimits.requestUsers)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("names", all: self.names)
    }
}

/// The answer to `users` and `people`.
package struct UsersAnswer: Hashable, WireObject {
    package var users: [ChatUser]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(users: [ChatUser], page: PageToken? = nil) {
        self.users = users
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.users = try reader.objects("users", maximum: ChatLimits.requestUsers)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("users", all: self.users)
        writer.write("page", ifPresent: self.page)
    }
}

/// `people`: finds users. If the directory of the server is closed, only an exact account name
/// finds a user.
package struct PeopleRequest: Hashable, WireObject {
    /// An account name. If the directory is open, also a part of an account name or of a shown
    /// name. A leading `@` is ignored.
    package var query: String
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(query: String, page: PageToken? = nil) {
        self.query = query
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.query = try reader.string("query", minimum: 1, maximum: ChatLimits.queryLength)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("query", self.query)
        writer.write("page", ifPresent: self.page)
    }
}
