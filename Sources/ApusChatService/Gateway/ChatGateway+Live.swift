import ApusChatCore
import ApusChatProtocol
import ApusEventLoop
import ApusJSON

// The verbs that apply to connections or accounts.
extension ChatGateway {
    typealias Answer = @Sendable (Result<JSONValue, ChatError>) -> Void

    /// Answers the verbs that apply to connections.
    ///
    /// - Returns: False if the verb does not apply to a connection.
    func answerLive(_ verb: String, _ request: JSONValue, on connection: ChatConnection, _ answer: @escaping Answer) -> Bool {
        switch verb {
        case ChatVerbs.typing.name:
            self.inHub(ChatVerbs.typing, request, connection, answer) { hub, request in try hub.type(request, by: connection.requester) }
        case ChatVerbs.subscribe.name:
            self.inHub(ChatVerbs.subscribe, request, connection, answer) { hub, request in
                hub.show(request.conversations.map(\.key), on: connection.key)
            }
        case ChatVerbs.signal.name:
            self.inHub(ChatVerbs.signal, request, connection, answer) { hub, request in try hub.signal(request, by: connection.requester) }
        case ChatVerbs.devices.name:
            self.inTask(.request, connection, answer) { sessions throws(ChatError) in
                try await sessions.devices(of: connection.requester).json
            }
        case ChatVerbs.deviceRemove.name:
            self.inTask(.change, connection, answer) { sessions throws(ChatError) in
                let removal: DeviceRemoveRequest
                do throws(WireError) { removal = try DeviceRemoveRequest(json: request) } catch { throw ChatError(error) }
                return try await sessions.removeDevice(removal, of: connection.requester).json
            }
        case ChatVerbs.pushSet.name:
            self.inTask(.change, connection, answer) { sessions throws(ChatError) in
                let set: PushSetRequest
                do throws(WireError) { set = try PushSetRequest(json: request) } catch { throw ChatError(error) }
                try await sessions.setPush(set, of: connection.requester)
                return WireEmpty().json
            }
        default: return false
        }
        return true
    }

    private func inHub<Request, Reply>(
        _ verb: ChatVerb<Request, Reply>, _ json: JSONValue, _ connection: ChatConnection, _ answer: @escaping Answer,
        _ body: @escaping @Sendable (Hub, Request) throws -> Void
    ) {
        if let refusal = self.charge(.request, connection) { return answer(.failure(refusal)) }
        let request: Request
        do throws(WireError) { request = try Request(json: json) } catch { return answer(.failure(ChatError(error))) }
        self.service.hub.onLoop { hub in
            answer(
                Result {
                    try body(hub, request)
                    return WireEmpty().json
                }
                .mapError(ChatError.init(reading:)))
        }
    }

    private func inTask(
        _ rate: RateAction, _ connection: ChatConnection, _ answer: @escaping Answer,
        _ body: @escaping @Sendable (any ChatSessions) async throws(ChatError) -> JSONValue
    ) {
        if let refusal = self.charge(rate, connection) { return answer(.failure(refusal)) }
        Task {
            do throws(ChatError) { answer(.success(try await body(self.sessions))) } catch { answer(.failure(error)) }
        }
    }

    private func charge(_ rate: RateAction, _ connection: ChatConnection) -> ChatError? {
        self.service.charge(rate, to: [.account(connection.requester.user), .device(connection.requester.device)])
    }
}
