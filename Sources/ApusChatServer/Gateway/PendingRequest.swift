import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging

/// A request that is counted against its socket until it is answered, exactly once.
struct PendingRequest: Sendable {
    /// The maximum number of pending requests of one socket; further requests are refused with
    /// `too_many`. A client of this package has a dozen.
    static let maximumPerSocket = 64

    let event: SocketIOReceivedEvent
    private let permits: Permits
    /// The queue that the request occupies until it is answered.
    private let queue: LargeResponseQueue?

    /// - Parameters:
    ///   - permits: The permits of the socket.
    ///   - queue: The socket's queue, if the answer may be large.
    /// - Returns: nil if too many requests of the socket are pending.
    init?(_ event: SocketIOReceivedEvent, _ permits: Permits, _ queue: LargeResponseQueue?) {
        guard permits.take() else { return nil }
        self.event = event
        self.permits = permits
        self.queue = queue
    }

    func answer(_ result: Result<some Encodable & Sendable, ChatError>, _ logger: Logger) {
        self.permits.giveBack()
        switch result {
        case .success(let reply): self.event.acknowledge(reply, logger)
        case .failure(let error): self.event.acknowledge(error, logger)
        }
        self.queue?.answered()
    }
}

extension SocketIOReceivedEvent {
    /// Answers with an encoded value.
    func acknowledge(_ reply: some Encodable & Sendable, _ logger: Logger) {
        do {
            // Encoded on the store's thread. The event loop only sends it, and a queued answer
            // takes no more memory than its text.
            self.acknowledge(payload: try SocketIOPayload(writing: try JSONValueEncoder().encode(reply)))
        } catch {
            logger.error("Answer not encodable", metadata: ["chat.verb": "\(self.name)", "error": "\(error)"])
            self.acknowledge(["error": ["code": "internal", "message": "the server could not encode the answer"]])
        }
    }
}
