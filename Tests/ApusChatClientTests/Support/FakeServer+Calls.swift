import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

@testable import ApusChatClient

/// The verbs of calls. A signal without a recipient is sent to all other users.
extension FakeServer {
    func decideCall(_ verb: String, _ payload: JSONValue, by user: UserKey) throws(WireError) -> (JSONValue, [Push]) {
        switch verb {
        case "call.start":
            let request = try CallStartRequest(json: payload)
            let action = Command.Action.startCall(ConversationKey(request.conversation.number), request.media)
            let (decision, pushes) = self.run(self.command(user, action, id: request.id.rawValue))
            let answer = self.json(decision) {
                CallAnswer(conversation: request.conversation, call: $0.seq, at: $0.at, access: self.callAccess)
            }
            return (answer, pushes)
        case "call.update":
            let request = try CallUpdateRequest(json: payload)
            let (decision, pushes) = self.run(
                self.command(
                    user, .updateCall(self.address(request.conversation, request.call), request.state), id: request.id.rawValue))
            let answer = self.json(decision) {
                CallUpdateAnswer(
                    ChangeAnswer(conversation: request.conversation, id: request.id, seq: $0.seq > 0 ? $0.seq : nil, at: $0.at),
                    access: request.state == .accepted ? self.callAccess : nil)
            }
            return (answer, pushes)
        case "call.servers":
            let server = CallServer(urls: ["turn:turn.test"], username: "1:alice", credential: "secret")
            return (CallServersAnswer(servers: [server], expiresAt: self.now + 3_600_000).json, [])
        case "signal":
            let request = try SignalRequest(json: payload)
            guard let sender = self.names[user] else { return (WireEmpty().json, []) }
            let push = SignalPush(
                conversation: request.conversation, call: request.call, sender: sender, device: DeviceID(number: user.rawValue),
                data: request.data)
            for connection in self.connections {
                guard let other = connection.user, request.recipient.map({ self.names[other] == $0 }) ?? (other != user) else { continue }
                connection.push(ChatPushes.signal.name, push.json)
            }
            return (WireEmpty().json, [])
        default: return (ChatError(.unsupported, message: verb).json, [])
        }
    }
}
