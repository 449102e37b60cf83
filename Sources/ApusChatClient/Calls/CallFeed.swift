import ApusChatProtocol

/// The input of a ``CallController``: the events and signals of calls, in the order in which the
/// client received them.
final class CallFeed: Sendable {
    enum Input: Sendable {
        case events(ConversationID, [ChatEvent])
        case signal(SignalPush)
        case connection(ChatConnectionState)
        /// The heads of these conversations arrived or changed.
        case heads([ConversationID])
        /// The user is no longer a member of these conversations.
        case gone([ConversationID])
    }

    let inputs: AsyncStream<Input>
    private let observation: ChatObservation
    private let broadcaster: ChatBroadcaster
    private let listener: Int

    init(_ client: ChatClient) {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        self.inputs = inputs
        self.broadcaster = client.engine.broadcaster
        self.listener = self.broadcaster.observeCalls { continuation.yield($0) }
        self.observation = client.observe { update in
            switch update {
            case .messages(let conversation, let messages):
                let events = messages.map(\.event).filter { Self.kinds.contains($0.kind) }
                if !events.isEmpty { continuation.yield(.events(conversation, events)) }
            case .connection(let state): continuation.yield(.connection(state))
            case .gone(let conversations): continuation.yield(.gone(conversations))
            case .heads(let heads):
                let left = heads.filter { $0.state != .joined }.map(\.conversation)
                if !left.isEmpty { continuation.yield(.gone(left)) }
                continuation.yield(.heads(heads.map(\.conversation)))
            default: break
            }
        }
    }

    func close() {
        self.observation.cancel()
        self.broadcaster.removeCalls(self.listener)
    }

    private static let kinds: Set<EventKind> = [.call, .memberLeave, .memberRemove, .memberBan]
}
