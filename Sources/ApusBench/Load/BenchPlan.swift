import ApusConnectivity
import HTTPTypes

/// The parameters of one load.
struct BenchPlan: Sendable {
    /// The kind of message sent and the answer expected.
    enum Exchange: Sendable, Equatable {
        /// A WebSocket message that the server echoes.
        case webSocket
        /// An event that the server answers with an event of the same name.
        case event(String)
        /// An event that the server acknowledges.
        case acknowledged(String)
        /// An event to a room that only its sender has joined, with the total number of rooms.
        case room(of: Int)
        /// An event from the first connection that the server sends to every connection.
        case broadcast(String)
    }

    var url: String
    var exchange = Exchange.webSocket
    /// Whether payloads are binary: a binary frame, or a binary attachment.
    var binary = false
    /// Whether Socket.IO uses HTTP long-polling.
    var polling = false
    var headers: HTTPFields = [:]
    /// The auth payload of a Socket.IO client: a JSON object, or empty.
    var auth = ""
    var namespace = "/"
    /// The number of namespaces (`/bench-0` and so on) that the connections are spread over; 0 puts
    /// all in ``namespace``.
    var namespaces = 0
    var tls = TLSSettings.system

    var connections = 1
    /// The maximum number of messages in flight on a connection; 0 leaves the connections idle.
    var inFlight = 1
    /// The size of a payload in bytes.
    var size = 64
    /// The number of messages per second over all connections; with `nil`, each answer triggers the
    /// next message.
    var rate: Double?
    var warmUp = Duration.seconds(1)
    var duration = Duration.seconds(5)
    /// The time over which the connections are opened; zero opens them without a delay.
    var ramp = Duration.zero
    /// The maximum number of connections opened at the same time. Each event loop gets an equal
    /// share, at least 1.
    var opening = 50
    /// The number of event loops; the connections are divided among them.
    var threads = 1
    /// The server's process ID, to read its CPU time and memory.
    var serverProcess: Int?

    var isSocketIO: Bool { self.exchange != .webSocket }
    var isBroadcast: Bool { if case .broadcast = self.exchange { true } else { false } }

    /// Returns the number of connections of an event loop.
    func connections(onLoop loop: Int) -> Int { self.connections / self.threads + (loop < self.connections % self.threads ? 1 : 0) }

    /// Whether the messages differ from connection to connection.
    var differsByConnection: Bool { if case .room = self.exchange { true } else { self.namespaces > 0 } }

    /// A short description of the load.
    var summary: String {
        let transport = self.polling ? " by polling" : ""
        let payload = self.binary ? "binary" : "text"
        let action: String =
            switch self.exchange {
            case .webSocket: "echo"
            case .event(let name): "event \(name)"
            case .acknowledged(let name): "ack of \(name)"
            case .room(let count): "event to one of \(BenchText.number(count)) rooms"
            case .broadcast(let name): "broadcast \(name)"
            }
        let spread = self.namespaces > 0 ? " in \(BenchText.number(self.namespaces)) namespaces" : ""
        if self.inFlight == 0 { return "\(self.connections) idle connections\(transport)" }
        let pace = self.rate.map { "\(BenchText.number($0)) per second" } ?? "\(self.inFlight) in flight each"
        return "\(action)\(transport), \(self.size) B \(payload), \(self.connections) connections\(spread), \(pace)"
    }
}
