import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging

/// A request that is being carried out. It counts against its socket until it is answered, which is done once.
struct PendingRequest: Sendable {
    /// Most requests of one socket at a time. A client of ours has a dozen; above it a request is refused with `too_many`.
    static let maximumPerSocket = 64

    let event: SocketIOEvent
    private let permits: Permits
    /// The lane that the request occupies until it is answered.
    private let lane: LargeResponseQueue?

    /// - Parameters:
    ///   - permits: The socket's.
    ///   - lane: The socket's, when the answer may be large.
    /// - Returns: nil when too many of the socket's requests are being carried out.
    init?(_ event: SocketIOEvent, _ permits: Permits, _ lane: LargeResponseQueue?) {
        guard permits.take() else { return nil }
        self.event = event
        self.permits = permits
        self.lane = lane
    }

    func answer(_ result: Result<some Encodable & Sendable, ChatError>, _ logger: Logger) {
        self.permits.giveBack()
        switch result {
        case .success(let reply): self.event.acknowledge(reply, logger)
        case .failure(let error): self.event.acknowledge(error, logger)
        }
        self.lane?.answered()
    }
}

extension SocketIOEvent {
    /// Answers with a value of the protocol.
    func acknowledge(_ reply: some Encodable & Sendable, _ logger: Logger) {
        do {
            // Written on the store's thread: the event loop only sends it, and a queued answer
            // takes no more memory than its text.
            self.acknowledge(payload: try SocketIOPayload(writing: try JSONValueEncoder().encode(reply)))
        } catch {
            logger.error("An answer could not be encoded", metadata: ["chat.verb": "\(self.name)", "error": "\(error)"])
            self.acknowledge(["error": ["code": "internal", "message": "the server could not answer"]])
        }
    }
}
