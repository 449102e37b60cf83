import ApusChatProtocol
import ApusJSON
import ApusSocketIOServer
import Logging

/// A request that is being carried out. It counts against its socket until it is answered, which is done once.
struct ChatQuestion: Sendable {
    /// Most requests of one socket at a time. A client of ours has a dozen; above it a request is refused with `too_many`.
    static let maximumPerSocket = 64

    let event: SocketIOEvent
    private let permits: Permits

    /// - Parameter permits: The socket's.
    /// - Returns: nil when too many of the socket's requests are being carried out.
    init?(_ event: SocketIOEvent, _ permits: Permits) {
        guard permits.take() else { return nil }
        self.event = event
        self.permits = permits
    }

    func answer(_ result: Result<some Encodable & Sendable, ChatError>, _ logger: Logger) {
        self.permits.giveBack()
        switch result {
        case .success(let reply): self.event.acknowledge(reply, logger)
        case .failure(let error): self.event.acknowledge(error, logger)
        }
    }
}

extension SocketIOEvent {
    /// Answers with a value of the protocol.
    func acknowledge(_ reply: some Encodable & Sendable, _ logger: Logger) {
        do {
            self.acknowledge(try JSONValueEncoder().encode(reply))
        } catch {
            logger.error("An answer could not be encoded", metadata: ["chat.verb": "\(self.name)", "error": "\(error)"])
            self.acknowledge(["error": ["code": "internal", "message": "the server could not answer"]])
        }
    }
}
