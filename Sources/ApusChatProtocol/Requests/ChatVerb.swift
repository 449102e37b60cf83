package import ApusJSON

/// A request: its name, and the types of its fields and of its answer.
package struct ChatVerb<Request: WireObject, Answer: WireObject>: Sendable {
    /// The name of the Socket.IO event.
    package let name: String

    package init(_ name: String, _ request: Request.Type, _ answer: Answer.Type) { self.name = name }
}

extension ChatVerb {
    /// Returns the bytes whose SHA-256 distinguishes a retry from another request with the same id.
    /// They are a version byte, and the canonical form of the verb and of all fields except the id.
    /// For `send`, use ``SendRequest/hashedBytes()``.
    package func hashedBytes(of request: Request) throws(JSONError) -> [UInt8] {
        var writer = WireWriter()
        request.write(to: &writer)
        var fields = writer.object
        fields["id"] = nil
        return [SendRequest.hashVersion] + (try CanonicalJSON.bytes(of: .object(["request": .object(fields), "verb": .string(self.name)])))
    }
}

/// All verbs, by their Swift names. ``ChatReference`` describes them.
package enum ChatVerbs {
    /// The Socket.IO namespace.
    package static let namespace = "/chat"

    package static let hello = ChatVerb("hello", HelloRequest.self, HelloAnswer.self)
    package static let send = ChatVerb("send", SendRequest.self, SendAnswer.self)
    package static let sync = ChatVerb("sync", SyncRequest.self, SyncAnswer.self)
    package static let history = ChatVerb("history", HistoryRequest.self, HistoryAnswer.self)
    package static let mark = ChatVerb("mark", MarkRequest.self, MarkAnswer.self)
    package static let typing = ChatVerb("typing", TypingRequest.self, WireEmpty.self)
    package static let subscribe = ChatVerb("subscribe", SubscribeRequest.self, WireEmpty.self)
    package static let readers = ChatVerb("readers", ReadersRequest.self, ReadersAnswer.self)

    package static let edit = ChatVerb("edit", EditRequest.self, ChangeAnswer.self)
    package static let previewRemove = ChatVerb("preview.remove", PreviewRemoveRequest.self, ChangeAnswer.self)
    package static let recall = ChatVerb("recall", RecallRequest.self, ChangeAnswer.self)
    package static let hide = ChatVerb("hide", HideRequest.self, ChangeAnswer.self)
    package static let react = ChatVerb("react", ReactRequest.self, ChangeAnswer.self)
    package static let reactions = ChatVerb("reactions", ReactionsRequest.self, ReactionsAnswer.self)
    package static let pin = ChatVerb("pin", PinRequest.self, ChangeAnswer.self)
    package static let vote = ChatVerb("vote", VoteRequest.self, ChangeAnswer.self)
    package static let pollClose = ChatVerb("poll.close", PollCloseRequest.self, ChangeAnswer.self)
    package static let forward = ChatVerb("forward", ForwardRequest.self, ForwardAnswer.self)
    package static let schedule = ChatVerb("schedule", ScheduleRequest.self, ScheduleAnswer.self)
    package static let scheduled = ChatVerb("scheduled", ScheduledRequest.self, ScheduledAnswer.self)
    package static let unschedule = ChatVerb("unschedule", UnscheduleRequest.self, ChangeAnswer.self)

    package static let conversationOpen = ChatVerb("conversation.open", OpenRequest.self, HeadAnswer.self)
    package static let conversationCreate = ChatVerb("conversation.create", CreateRequest.self, HeadAnswer.self)
    package static let conversationInfo = ChatVerb("conversation.info", InfoRequest.self, InfoAnswer.self)
    package static let conversationSet = ChatVerb("conversation.set", ConversationSetRequest.self, ChangeAnswer.self)
    package static let conversationDelete = ChatVerb("conversation.delete", DeleteRequest.self, ChangeAnswer.self)
    package static let directory = ChatVerb("directory", DirectoryRequest.self, DirectoryAnswer.self)

    package static let members = ChatVerb("members", MembersRequest.self, MembersAnswer.self)
    package static let memberAdd = ChatVerb("member.add", MemberAddRequest.self, MemberAddAnswer.self)
    package static let memberAnswer = ChatVerb("member.answer", MemberAnswerRequest.self, MemberAnswerAnswer.self)
    package static let memberJoin = ChatVerb("member.join", MemberJoinRequest.self, HeadAnswer.self)
    package static let memberApprove = ChatVerb("member.approve", MemberApproveRequest.self, ChangeAnswer.self)
    package static let memberLeave = ChatVerb("member.leave", MemberLeaveRequest.self, ChangeAnswer.self)
    package static let memberRemove = ChatVerb("member.remove", MemberUsersRequest.self, ChangeAnswer.self)
    package static let memberBan = ChatVerb("member.ban", MemberUntilRequest.self, ChangeAnswer.self)
    package static let memberUnban = ChatVerb("member.unban", MemberUsersRequest.self, ChangeAnswer.self)
    package static let memberRole = ChatVerb("member.role", MemberRoleRequest.self, ChangeAnswer.self)
    package static let memberMute = ChatVerb("member.mute", MemberUntilRequest.self, ChangeAnswer.self)
    package static let linkCreate = ChatVerb("link.create", LinkCreateRequest.self, LinkAnswer.self)
    package static let linkList = ChatVerb("link.list", LinkListRequest.self, LinkListAnswer.self)
    package static let linkRevoke = ChatVerb("link.revoke", LinkRevokeRequest.self, ChangeAnswer.self)
    package static let linkInfo = ChatVerb("link.info", LinkInfoRequest.self, LinkInfoAnswer.self)

    package static let ownSet = ChatVerb("own.set", OwnSetRequest.self, ChangeAnswer.self)
    package static let draft = ChatVerb("draft", DraftRequest.self, ChangeAnswer.self)
    package static let settings = ChatVerb("settings", WireEmpty.self, SettingsAnswer.self)
    package static let settingsSet = ChatVerb("settings.set", SettingsSetRequest.self, ChangeAnswer.self)
    package static let profileSet = ChatVerb("profile.set", ProfileSetRequest.self, UserAnswer.self)
    package static let users = ChatVerb("users", UsersRequest.self, UsersAnswer.self)
    package static let people = ChatVerb("people", PeopleRequest.self, UsersAnswer.self)
    package static let contacts = ChatVerb("contacts", ContactsRequest.self, ContactsAnswer.self)
    package static let contactRequest = ChatVerb("contact.request", ContactRequestRequest.self, ChangeAnswer.self)
    package static let contactAnswer = ChatVerb("contact.answer", ContactAnswerRequest.self, ChangeAnswer.self)
    package static let contactRemove = ChatVerb("contact.remove", ContactUserRequest.self, ChangeAnswer.self)
    package static let contactAlias = ChatVerb("contact.alias", ContactAliasRequest.self, ChangeAnswer.self)
    package static let block = ChatVerb("block", ContactUserRequest.self, ChangeAnswer.self)
    package static let unblock = ChatVerb("unblock", ContactUserRequest.self, ChangeAnswer.self)
    package static let report = ChatVerb("report", ReportRequest.self, WireEmpty.self)

    package static let search = ChatVerb("search", SearchRequest.self, SearchAnswer.self)
    package static let callStart = ChatVerb("call.start", CallStartRequest.self, CallAnswer.self)
    package static let callUpdate = ChatVerb("call.update", CallUpdateRequest.self, CallUpdateAnswer.self)
    package static let callServers = ChatVerb("call.servers", WireEmpty.self, CallServersAnswer.self)
    package static let signal = ChatVerb("signal", SignalRequest.self, WireEmpty.self)
    package static let devices = ChatVerb("devices", WireEmpty.self, DevicesAnswer.self)
    package static let deviceRemove = ChatVerb("device.remove", DeviceRemoveRequest.self, ChangeAnswer.self)
    package static let pushSet = ChatVerb("push.set", PushSetRequest.self, WireEmpty.self)
}

/// A push: its name, and the type of its fields.
package struct ChatPush<Payload: WireObject>: Sendable {
    /// The name of the Socket.IO event.
    package let name: String

    /// The feature that a client must have to receive the push; nil if all clients receive it.
    package let feature: PushFeature?

    package init(_ name: String, _ payload: Payload.Type, of feature: PushFeature? = nil) {
        self.name = name
        self.feature = feature
    }
}

/// All pushes, by their Swift names.
package enum ChatPushes {
    package static let event = ChatPush("event", EventPush.self)
    package static let head = ChatPush("head", HeadPush.self)
    package static let mark = ChatPush("mark", MarkPush.self, of: .receipts)
    package static let presence = ChatPush("presence", PresencePush.self, of: .presence)
    package static let typing = ChatPush("typing", TypingPush.self, of: .typing)
    package static let user = ChatPush("user", UserPush.self)
    package static let signal = ChatPush("signal", SignalPush.self, of: .calls)
    package static let bye = ChatPush("bye", ByePush.self)
}
