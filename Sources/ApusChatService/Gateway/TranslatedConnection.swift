import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
package import ApusJSON
package import ApusSocketIOServer

/// A connection of a client that uses another protocol. The server makes chat requests on behalf of
/// the client.
///
/// The requests have the same permissions, rate limits and order as those of an ordinary client,
/// and the connection receives the same pushes.
package final class TranslatedConnection: Sendable {
    private let gateway: ChatGateway
    private let connection: ChatConnection

    fileprivate init(_ gateway: ChatGateway, _ connection: ChatConnection) {
        self.gateway = gateway
        self.connection = connection
    }

    /// The device of the connection, as others see it.
    package var device: DeviceID { DeviceID(number: self.connection.requester.device.rawValue) }

    /// Sends a request. The first request of a connection must be `hello`.
    package func ask<Request, Answer>(_ verb: ChatVerb<Request, Answer>, _ request: Request) async throws(ChatError) -> Answer {
        let result: Result<JSONValue, ChatError> = await withCheckedContinuation { continuation in
            self.gateway.respond(to: verb.name, request.json, on: self.connection) { continuation.resume(returning: $0) }
        }
        let json = try result.get()
        do throws(WireError) { return try Answer(json: json) } catch { throw ChatError(error) }
    }

    /// Ends the pushes. Called when the connection has ended.
    package func close() {
        self.connection.reads.close()
        let key = self.connection.key
        self.gateway.service.hub.onLoop { $0.disconnect(key) }
    }
}

extension ChatGateway {
    /// Adds the connection of a client that uses another protocol.
    ///
    /// - Parameters:
    ///   - socket: The connection, which is closed when the session of its device ends.
    ///   - watchesPresence: Whether the connection receives the presence of every user that all
    ///     users can find and whose presence is visible to all users.
    ///   - receive: Receives each push after the answer to `hello`, with its name. It must not
    ///     block.
    /// - Throws: `too_many` if the account or the address exceeds the rate limit of connections.
    package func translate(
        _ socket: SocketIOServerSocket, of requester: Requester, watchesPresence: Bool,
        receive: @escaping @Sendable (_ push: String, _ value: JSONValue) -> Void
    ) throws(ChatError) -> TranslatedConnection {
        if let refusal = self.service.charge(.connection, to: [.account(requester.user)] + requester.origin) { throw refusal }
        let connection = ChatConnection(
            key: self.makeKey(), requester: requester, socket: socket, watchesPresence: watchesPresence,
            receive: { receive($0.event, $0.value) })
        return TranslatedConnection(self, connection)
    }
}
