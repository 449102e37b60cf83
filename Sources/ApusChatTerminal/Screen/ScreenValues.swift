package import ApusChatClient
package import ApusChatProtocol

extension ScreenMessage {
    /// A row of a thread as the screen shows it.
    /// - Parameters:
    ///   - names: Returns the shown name of a user.
    ///   - time: Returns the time of day of milliseconds since 1970.
    package init(_ message: ChatMessage, names: (UserName) -> String, time: (Int64) -> String) {
        let sender = message.event.sender.map(names) ?? ""
        let mark: Mark =
            switch message.delivery {
            case nil: .none
            case .queued, .uploading, .sending: .waiting
            case .sent: .sent
            case .delivered: .delivered
            case .read: .read
            case .failed: .failed
            }
        self.init(
            sender: sender, time: time(message.event.at), text: Self.text(of: message, sender: sender, names: names),
            isOwn: message.isOwn, mark: mark, isNotice: !message.event.kind.isMessage && message.event.kind != .hidden)
    }

    /// The words for a message or a change.
    private static func text(of message: ChatMessage, sender: String, names: (UserName) -> String) -> String {
        switch message.event.state {
        case .recalled: return "(message recalled)"
        case .expired, .erased: return "(message removed)"
        default: break
        }
        if message.event.kind == .hidden { return "(message hidden)" }
        if message.needsUpdate { return "(update the program to see this message)" }
        if let body = message.body { return self.text(of: body) + self.details(of: message) }
        switch message.change {
        case .conversationCreate(let body): return sender + " created " + (body.title.map { "\"\($0)\"" } ?? "the conversation")
        case .conversationSet(let body):
            return body.title.map { sender + " changed the title to \"\($0)\"" } ?? sender + " changed the settings"
        case .members(let body): return self.text(of: body, kind: message.event.kind, sender: sender, names: names)
        case .pin(let body): return sender + (body.isRemoval ? " unpinned a message" : " pinned a message")
        default: return "(\(message.event.kind))"
        }
    }

    private static func text(of body: ChatBody) -> String {
        switch body {
        case .text(let body): body.text
        case .image(let body): "[picture] " + (body.text ?? body.name ?? "")
        case .audio(let body): (body.isVoice ? "[voice message] " : "[audio] ") + (body.text ?? body.name ?? "")
        case .video(let body): "[video] " + (body.text ?? "")
        case .file(let body): "[file] " + body.name + (body.text.map { "\n" + $0 } ?? "")
        case .location: "[place]"
        case .card(let body): "[contact] @" + body.user.rawValue
        case .call(let body): "[call] " + body.state.rawValue
        case .poll(let body): "[poll] " + body.question
        case .bundle(let body): "[messages] " + body.title
        case .encrypted: "(encrypted message)"
        case .custom(let body): body.text ?? "(message of an application)"
        }
    }

    private static func details(of message: ChatMessage) -> String {
        let edited = message.event.state == .edited ? " (edited)" : ""
        let reactions = message.event.reactions.map { " \($0.key) \($0.count)" }.joined()
        return edited + (reactions.isEmpty ? "" : "\n" + reactions)
    }

    private static func text(of body: MemberBody, kind: EventKind, sender: String, names: (UserName) -> String) -> String {
        let users = body.users.map(names).joined(separator: ", ")
        switch kind {
        case .memberJoin: return users.isEmpty ? sender + " joined" : sender + " added " + users
        case .memberInvite: return sender + " invited " + users
        case .memberLeave: return sender + " left"
        case .memberRemove: return sender + " removed " + users
        case .memberBan: return sender + " banned " + users
        case .memberUnban: return sender + " lifted the ban of " + users
        case .memberRole: return sender + " changed the role of " + users
        case .memberMute: return sender + " changed who may write: " + users
        default: return "(\(kind))"
        }
    }
}
