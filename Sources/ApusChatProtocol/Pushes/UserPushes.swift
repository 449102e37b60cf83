/// The push `typing`: a member is writing, or has stopped.
package struct TypingPush: Hashable, WireObject {
    package var conversation: ConversationID
    package var user: UserName
    /// Whether the member has stopped writing.
    package var isStopped: Bool

    package init(conversation: ConversationID, user: UserName, isStopped: Bool = false) {
        self.conversation = conversation
        self.user = user
        self.isStopped = isStopped
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.user = try reader.text("user")
        self.isStopped = try reader.bool("stopped")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("user", self.user)
        writer.write("stopped", ifTrue: self.isStopped)
    }
}

/// The push `user`: users whose profile changed.
package struct UserPush: Hashable, WireObject {
    package var users: [ChatUser]

    package init(users: [ChatUser]) {
        self.users = users
    }

    package init(from reader: WireReader) throws(WireError) {
        self.users = try reader.objects("users", maximum: ChatLimits.requestUsers)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("users", all: self.users)
    }
}
