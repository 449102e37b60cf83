/// The read or received position of a member in a log.
package struct ReadMark: Hashable, WireObject {
    package var conversation: ConversationID
    /// The member. If the recipient set the position on another device, this is the recipient.
    package var user: UserName
    package var read: Int64?
    package var received: Int64?
    /// The number of unread messages; nil for the position of another member.
    package var unread: Int64?
    /// The number of unread messages that mention the recipient; nil for another member.
    package var mentions: Int64?
    /// The ordinal of the newest message that was counted; nil for another member.
    package var n: Int64?

    package init(
        conversation: ConversationID, user: UserName, read: Int64? = nil, received: Int64? = nil, unread: Int64? = nil,
        mentions: Int64? = nil, n: Int64? = nil
    ) {
        self.conversation = conversation
        self.user = user
        self.read = read
        self.received = received
        self.unread = unread
        self.mentions = mentions
        self.n = n
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.user = try reader.text("user")
        self.read = try reader.integerIfPresent("read")
        self.received = try reader.integerIfPresent("received")
        self.unread = try reader.integerIfPresent("unread")
        self.mentions = try reader.integerIfPresent("mentions")
        self.n = try reader.integerIfPresent("n")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("user", self.user)
        writer.write("read", ifPresent: self.read)
        writer.write("received", ifPresent: self.received)
        writer.write("unread", ifPresent: self.unread)
        writer.write("mentions", ifPresent: self.mentions)
        writer.write("n", ifPresent: self.n)
    }
}

/// The push `mark`: changed positions. It is sent at most once a second on each connection.
package struct MarkPush: Hashable, WireObject {
    package var marks: [ReadMark]

    package init(marks: [ReadMark]) { self.marks = marks }

    package init(from reader: WireReader) throws(WireError) {
        self.marks = try reader.objects("marks", maximum: ChatLimits.conversations)
    }

    package func write(to writer: inout WireWriter) { writer.write("marks", all: self.marks) }
}

/// The push `presence`: users who have become online or offline.
package struct PresencePush: Hashable, WireObject {
    /// The presence of one user.
    package struct Entry: Hashable, WireObject {
        package var user: UserName
        package var isOnline: Bool
        /// The end of the last connection, in milliseconds since 1970, or the time of the last
        /// sign-in or renewal of a session if the server has restarted since then. Nil if the user
        /// is online.
        package var lastSeen: Int64?

        package init(user: UserName, isOnline: Bool, lastSeen: Int64? = nil) {
            self.user = user
            self.isOnline = isOnline
            self.lastSeen = lastSeen
        }

        package init(from reader: WireReader) throws(WireError) {
            self.user = try reader.text("user")
            self.isOnline = try reader.flag("online")
            self.lastSeen = try reader.integerIfPresent("last_seen")
        }

        package func write(to writer: inout WireWriter) {
            writer.write("user", self.user)
            writer.write("online", self.isOnline)
            writer.write("last_seen", ifPresent: self.lastSeen)
        }
    }

    package var users: [Entry]

    package init(users: [Entry]) { self.users = users }

    package init(from reader: WireReader) throws(WireError) { self.users = try reader.objects("users", maximum: ChatLimits.contacts) }

    package func write(to writer: inout WireWriter) { writer.write("users", all: self.users) }
}

/// The push `bye`: the last push of a connection, before the server closes it.
package struct ByePush: Hashable, WireObject {
    /// The reason for closing a connection.
    package enum Reason: String, WireChoice {
        /// The session was ended, by this or by another device.
        case signedOut = "signed_out"
        /// The account was suspended or deleted.
        case accountClosed = "account_closed"
        /// The server is stopping. Reconnect after `retry_after`.
        case shutdown
        /// The client did not read fast enough. Reconnect.
        case slow
        /// The client violated the protocol.
        case protocolError = "protocol_error"
        /// The server does not support the client's protocol version. Update the client.
        case version
        /// A reason that a later version of the server defines.
        case unknown

        /// Whether the client can reconnect with its current session.
        package var permitsReconnect: Bool {
            switch self {
            case .shutdown, .slow, .unknown: true
            case .signedOut, .accountClosed, .protocolError, .version: false
            }
        }
    }

    package var reason: Reason
    /// The time to wait before a reconnection, in milliseconds; nil if the server names none.
    package var retryAfter: Int64?

    package init(reason: Reason, retryAfter: Int64? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package init(from reader: WireReader) throws(WireError) {
        self.reason = try reader.choice("reason")
        self.retryAfter = try reader.integerIfPresent("retry_after")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("reason", self.reason)
        writer.write("retry_after", ifPresent: self.retryAfter)
    }
}
