import ApusChatHTTP
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The events that an app sends.
enum LegacyEvent: String, CaseIterable {
    case chat
    case groupChat = "GroupChat"
    case create
    case join
    case leave
    case videoChat
    case joinCall = "__join"
    case offer = "__offer"
    case answer = "__answer"
    case candidate = "__ice_candidate"
    case closeRoom
    case cancelVideoChat
}

extension LegacyConnection {
    /// Handles an event of the app. A refused event is not acknowledged.
    func received(_ event: LegacyEvent, _ received: SocketIOReceivedEvent) async {
        let argument = received.arguments.first ?? .null
        do {
            let account = try await self.opened()
            switch event {
            case .chat: received.acknowledge(.object(try await self.chat(argument, by: account.user, own: account.own)))
            case .groupChat: received.acknowledge(.object(try await self.groupChat(argument, by: account.user)))
            case .create: received.acknowledge(.string(try await self.create(try Self.room(of: argument))))
            case .join: received.acknowledge(.string(try await self.join(try Self.room(of: argument))))
            case .leave: try await self.leave(try Self.room(of: argument))
            case .videoChat: received.acknowledge(.string(try await self.call(argument, by: account.user)))
            case .joinCall: try await self.joinCall(argument, account.user)
            case .offer, .answer, .candidate: try await self.signal(event, argument)
            case .closeRoom: await self.leaveCall()
            case .cancelVideoChat: try await self.cancelCall(argument)
            }
        } catch {
            self.logger.debug(
                "An event of the legacy protocol was refused", metadata: ["chat.legacy.event": "\(event.rawValue)", "error": "\(error)"])
        }
    }

    /// Returns the name of a group as the chat stores it. A name of the app can differ from it in
    /// spaces and in full-width characters.
    private static func room(of argument: JSONValue) throws(LegacyRefusal) -> String {
        guard let room = argument["roomId"]?.stringValue.flatMap({ Nickname.prepared($0) }) else {
            throw LegacyRefusal("`roomId` must be a name.")
        }
        return room
    }

    // MARK: Messages

    private func chat(_ argument: JSONValue, by user: UserName, own: ConversationID) async throws -> JSONObject {
        let message = try LegacyMessage(chat: argument)
        guard let recipient = UserName(message.recipient) else { throw LegacyRefusal("`to_user` must be an account name.") }
        return try await self.send(message, by: user) { recipient == user ? own : try await self.pair(with: recipient) }
    }

    private func groupChat(_ argument: JSONValue, by user: UserName) async throws -> JSONObject {
        let message = try LegacyMessage(groupChat: argument)
        return try await self.send(message, by: user) {
            guard let group = Nickname.prepared(message.recipient).flatMap({ self.group($0) }) else {
                throw LegacyRefusal("The user is not a member of this group.")
            }
            return group
        }
    }

    /// Sends a message. Returns the acknowledgement for the app.
    ///
    /// - Parameter find: Returns the conversation to which the message is sent.
    private func send(
        _ message: LegacyMessage, by user: UserName, to find: () async throws -> ConversationID
    ) async throws -> JSONObject {
        guard !message.isForged(by: user) else { throw LegacyRefusal("`from_user` must be the account of the connection.") }
        let conversation = try await find()
        guard let id = message.sentAt > 0 ? message.id(from: user) : LegacyServer.requestID(),
            let body = message.body(try await self.stored(message))
        else { throw LegacyRefusal("The file of the message does not exist.") }
        let answer = try await self.chat.ask(
            ChatVerbs.send, SendRequest(id: id, conversation: conversation, kind: body.kind, body: body.fields))
        return message.ack(
            id: LegacyFrames.messageID(conversation, answer.seq), at: answer.at, from: user, paths: self.server.paths, body: body)
    }

    /// Stores the file of a message, or returns the earlier upload to which the message refers.
    private func stored(_ message: LegacyMessage) async throws -> LegacyMessage.Stored? {
        guard case .file(let file) = message.content else { return nil }
        let row: BlobRow?
        if !file.bytes.isEmpty {
            // Browsers do not play AMR.
            let bytes = await self.server.files.convertedVoice(file.bytes, for: self.session.user) ?? file.bytes
            row = try await self.server.uploads.store(ByteBuffer(bytes: bytes), for: self.session, from: self.client)
        } else if let path = file.path {
            if let blob = path.split(separator: "/").last.flatMap({ self.server.paths.blob(named: $0) }) {
                // The chat refuses the message if the user may not read the file.
                row = try await self.server.accounts.database.read { try $0.blob(blob) }
            } else {
                row = try await self.server.adopt(path, for: self.session, from: self.client)
            }
        } else {
            row = nil
        }
        return row.map { LegacyMessage.Stored(blob: $0.id, size: $0.size, type: $0.type, width: $0.width, height: $0.height) }
    }

    /// Returns the conversation with another user.
    func pair(with user: UserName) async throws -> ConversationID {
        let answer = try await self.chat.ask(ChatVerbs.conversationOpen, OpenRequest(id: LegacyServer.requestID(), user: user))
        if self.kind(of: answer.head.conversation) == nil { await self.learn(answer.head, from: answer.head.seq + 1) }
        return answer.head.conversation
    }

    // MARK: Groups

    /// Creates a group that all users can find in the directory and join by its name, as the legacy
    /// protocol requires.
    private func create(_ title: String) async throws -> String {
        if self.group(title) != nil { return title }
        guard try await self.listed(title) == nil else { throw LegacyRefusal("Another group has this name. Choose another one.") }
        var settings = ConversationSettingsChange()
        settings.join = .open
        settings.listed = true
        settings.history = .join
        let request = CreateRequest(id: LegacyServer.requestID(), kind: .group, title: title, settings: settings)
        await self.learn(try await self.chat.ask(ChatVerbs.conversationCreate, request).head, from: 1)
        return title
    }

    /// Joins a group that the directory lists, or to which the user is invited.
    private func join(_ title: String) async throws -> String {
        if self.group(title) != nil { return title }
        let head: ChatHead
        if let invited = self.invitations[title] {
            let request = MemberAnswerRequest(id: LegacyServer.requestID(), conversation: invited, isAccepted: true)
            _ = try await self.chat.ask(ChatVerbs.memberAnswer, request)
            head = try await self.chat.ask(ChatVerbs.conversationInfo, InfoRequest(conversation: invited)).head
        } else if let listed = try await self.listed(title) {
            let request = MemberJoinRequest(id: LegacyServer.requestID(), conversation: listed)
            head = try await self.chat.ask(ChatVerbs.memberJoin, request).head
        } else {
            throw LegacyRefusal("There is no group of this name that the user may join.")
        }
        guard head.state == .joined else { throw LegacyRefusal("An admin of the group must approve the request to join.") }
        await self.learn(head, from: head.seq)
        return title
    }

    private func leave(_ title: String) async throws {
        guard let group = self.group(title) else { throw LegacyRefusal("The user is not a member of this group.") }
        _ = try await self.chat.ask(ChatVerbs.memberLeave, MemberLeaveRequest(id: LegacyServer.requestID(), conversation: group))
        self.forget(group)
    }

    /// Returns the group in the directory with exactly this title; nil if it is not found.
    private func listed(_ title: String) async throws -> ConversationID? {
        var page: PageToken?
        for _ in 0..<10 {
            let found = try await self.chat.ask(ChatVerbs.directory, DirectoryRequest(query: title, page: page))
            if let entry = found.conversations.first(where: { $0.title.utf8.elementsEqual(title.utf8) && $0.kind == .group }) {
                return entry.conversation
            }
            guard let next = found.page else { return nil }
            page = next
        }
        return nil
    }
}
