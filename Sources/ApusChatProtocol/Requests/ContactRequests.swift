/// `contacts`: requests the contacts, contact requests and blocked users.
package struct ContactsRequest: Hashable, WireObject {
    /// The state to which the answer is restricted; nil for all states.
    package var state: ContactState?
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(state: ContactState? = nil, page: PageToken? = nil) {
        self.state = state
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.state = try reader.knownChoiceIfPresent("state")
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("state", ifPresent: self.state)
        writer.write("page", ifPresent: self.page)
    }
}

/// The relation of a user to another user.
public enum ContactState: String, WireChoice {
    /// The users are contacts.
    case friend
    /// The user sent a request that the other user has not answered.
    case asking
    /// The other user sent a request that the user has not answered.
    case asked
    /// The user blocked the other user.
    case blocked
    /// A state that a later version of the server defines.
    case unknown
}

/// An entry of a user's list of contacts.
public struct Contact: Hashable, Sendable, WireObject {
    /// The other user.
    public var user: ChatUser
    /// The relation of the user to the other user.
    public var state: ContactState
    /// The alias that the user gave the contact; nil for no alias.
    public var alias: String?
    /// The text of the contact request; nil if it has no text, or if the request was answered.
    public var text: String?
    /// The time of the last change, in milliseconds since 1970.
    public var at: Int64

    package init(user: ChatUser, state: ContactState, alias: String? = nil, text: String? = nil, at: Int64) {
        self.user = user
        self.state = state
        self.alias = alias
        self.text = text
        self.at = at
    }

    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.object("user")
        self.state = try reader.choice("state")
        self.alias = try reader.stringIfPresent("alias", minimum: 1, maximum: ChatLimits.nickLength)
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.contactTextLength)
        self.at = try reader.integer("at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("state", self.state)
        writer.write("alias", ifPresent: self.alias)
        writer.write("text", ifPresent: self.text)
        writer.write("at", self.at)
    }
}

/// The answer to `contacts`. The order is the same on every request. A page can be empty although
/// further pages follow.
package struct ContactsAnswer: Hashable, WireObject {
    package var contacts: [Contact]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(contacts: [Contact], page: PageToken? = nil) {
        self.contacts = contacts
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.contacts = try reader.objects("contacts", maximum: ChatLimits.usersPage)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("contacts", all: self.contacts)
        writer.write("page", ifPresent: self.page)
    }
}

/// `contact.request`: sends a contact request. Two requests in opposite directions make the users
/// contacts.
package struct ContactRequestRequest: Hashable, WireObject {
    package var id: ClientID
    package var user: UserName
    /// A text that the other user sees with the request; nil for no text.
    package var text: String?
    /// The alias that the user gives the contact; nil for no alias.
    package var alias: String?

    package init(id: ClientID, user: UserName, text: String? = nil, alias: String? = nil) {
        self.id = id
        self.user = user
        self.text = text
        self.alias = alias
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.user = try reader.text("user")
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.contactTextLength)
        self.alias = try reader.nicknameIfPresent("alias", maximum: ChatLimits.nickLength)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("user", self.user)
        writer.write("text", ifPresent: self.text)
        writer.write("alias", ifPresent: self.alias)
    }
}

/// `contact.answer`: accepts or declines a contact request. If the user declines it, the other user
/// receives no event.
package struct ContactAnswerRequest: Hashable, WireObject {
    package var id: ClientID
    /// The user who sent the request.
    package var user: UserName
    /// Whether the user becomes a contact.
    package var isAccepted: Bool

    package init(id: ClientID, user: UserName, isAccepted: Bool) {
        self.id = id
        self.user = user
        self.isAccepted = isAccepted
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.user = try reader.text("user")
        self.isAccepted = try reader.flag("accept")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("user", self.user)
        writer.write("accept", self.isAccepted)
    }
}

/// `contact.remove`, `block` and `unblock`: removes, blocks or unblocks a user. The other user
/// receives no event.
package struct ContactUserRequest: Hashable, WireObject {
    package var id: ClientID
    package var user: UserName

    package init(id: ClientID, user: UserName) {
        self.id = id
        self.user = user
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.user = try reader.text("user")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("user", self.user)
    }
}

/// `contact.alias`: sets the alias of a contact, which only the user sees.
package struct ContactAliasRequest: Hashable, WireObject {
    package var id: ClientID
    /// The contact.
    package var user: UserName
    /// The alias; an empty string removes it.
    package var alias: String

    package init(id: ClientID, user: UserName, alias: String) {
        self.id = id
        self.user = user
        self.alias = alias
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.user = try reader.text("user")
        self.alias = try reader.nickname("alias", orEmpty: true, maximum: ChatLimits.nickLength)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("user", self.user)
        writer.write("alias", self.alias)
    }
}

/// `report`: reports messages, a user or a conversation to the operators of the server.
package struct ReportRequest: Hashable, WireObject {
    package var id: ClientID
    /// The conversation of the reported messages. Without `seqs` and `user`, the conversation
    /// itself is reported.
    package var conversation: ConversationID?
    /// The `seq` of each reported message.
    package var seqs: [Int64]
    /// The reported user; ignored if the request names messages.
    package var user: UserName?
    package var reason: ReportReason
    /// The explanation by the reporting user; nil for no explanation.
    package var text: String?

    package init(
        id: ClientID, conversation: ConversationID? = nil, seqs: [Int64] = [], user: UserName? = nil, reason: ReportReason,
        text: String? = nil
    ) {
        self.id = id
        self.conversation = conversation
        self.seqs = seqs
        self.user = user
        self.reason = reason
        self.text = text
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.textIfPresent("conv")
        self.seqs = try reader.integers("seqs", in: WireReader.seqs, maximum: 100)
        self.user = try reader.textIfPresent("user")
        self.reason = try reader.knownChoice("reason")
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.aboutLength)
        guard self.user != nil || self.conversation != nil else {
            throw WireError(.missing, field: "user", rule: "or `conv` must be present")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", ifPresent: self.conversation)
        writer.write("seqs", ifAny: self.seqs)
        writer.write("user", ifPresent: self.user)
        writer.write("reason", self.reason)
        writer.write("text", ifPresent: self.text)
    }
}

/// The reason for a report.
public enum ReportReason: String, WireChoice {
    case spam, abuse, violence, illegal, impersonation, other
    case unknown
}
