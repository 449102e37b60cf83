import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension VerbTable {
    mutating func addCalls(_ settings: VerbSettings) {
        self.change(ChatVerbs.callStart) { request, requester in
            let identity = try ChatVerbs.callStart.identity(of: request)
            let command = requester.command(.startCall(request.conversation.key, request.media), identity)
            return Change(
                commands: { _, _ in [command] },
                answer: .place { CallAnswer(conversation: request.conversation, call: $0.seq, at: $0.at).json })
        }
        self.change(ChatVerbs.callUpdate) { request, _ in
            .updateCall(EventAddress(request.conversation.key, request.call), request.state)
        }
        self.read(ChatVerbs.callServers) { [callServers = settings.callServers] _, context in
            callServers(try context.account().name)
        }
    }
}
