/// One load, settled: what is said to the server, how often and how long.
struct BenchPlan: Sendable {
    /// What an exchange is.
    enum Exchange: Sendable, Equatable {
        /// A WebSocket message that comes back.
        case webSocket
        /// An event that is answered with an event of the same name.
        case event(String)
        /// An event whose ack is asked for.
        case acknowledged(String)
        /// An event to a room of one's own, from which it comes back; so many rooms there are.
        case room(of: Int)
        /// An event after which the server sends one to every connection. The first connection sends.
        case broadcast(String)
    }

    var url: String
    var exchange = Exchange.webSocket
    /// Payloads as binary: a binary frame, or a binary attachment.
    var binary = false
    /// Socket.IO by HTTP long-polling.
    var polling = false
    var headers: [(String, String)] = []
    /// What a Socket.IO client shows on joining: a JSON object, or nothing.
    var auth = ""
    var namespace = "/"
    /// The connections are spread over so many namespaces: `/bench-0` and so on. 0: all are in ``namespace``.
    var namespaces = 0
    var insecure = false

    var connections = 1
    /// Messages one connection has under way at most; 0 keeps the connections and says nothing.
    var inFlight = 1
    /// Bytes of payload.
    var size = 64
    /// Messages a second, all connections together; `nil`: the next one goes out when an answer has come.
    var rate: Double?
    var warmUp = Duration.seconds(1)
    var duration = Duration.seconds(5)
    /// The time over which the connections are opened; zero: as fast as they come.
    var ramp = Duration.zero
    /// Connections that are being opened at a time.
    var opening = 50
    /// Event loops, each with its share of the connections.
    var threads = 1
    /// The process of the server, to read its CPU time and memory.
    var serverProcess: Int?

    var isSocketIO: Bool { self.exchange != .webSocket }
    var isBroadcast: Bool { if case .broadcast = self.exchange { true } else { false } }

    /// The share of one of the event loops.
    func connections(onLoop loop: Int) -> Int { self.connections / self.threads + (loop < self.connections % self.threads ? 1 : 0) }

    /// Whether what one connection sends is nothing for another.
    var differsByConnection: Bool { if case .room = self.exchange { true } else { self.namespaces > 0 } }

    /// What is done, in a few words.
    var summary: String {
        let transport = self.polling ? " by polling" : ""
        let payload = self.binary ? "binary" : "text"
        let what: String =
            switch self.exchange {
            case .webSocket: "echo"
            case .event(let name): "event \(name)"
            case .acknowledged(let name): "ack of \(name)"
            case .room(let count): "event to one of \(BenchText.number(count)) rooms"
            case .broadcast(let name): "broadcast \(name)"
            }
        let spread = self.namespaces > 0 ? " in \(BenchText.number(self.namespaces)) namespaces" : ""
        if self.inFlight == 0 { return "\(self.connections) idle connections\(transport)" }
        let pace = self.rate.map { "\(BenchText.number($0)) a second" } ?? "\(self.inFlight) in flight each"
        return "\(what)\(transport), \(self.size) B \(payload), \(self.connections) connections\(spread), \(pace)"
    }
}
