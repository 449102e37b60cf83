import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOClient
import HTTPTypes
import Logging

/// The configuration and the logger that a list of options describes.
struct SocketIOClientOptions {
    private(set) var configuration = SocketIOManagerConfiguration()
    private(set) var logger = Logger(label: "apus.socketio.client")
    private var isSecure = false
    private var reconnects = true
    private var attempts: Int?
    private var wait = 10
    private var maximumWait = 30
    private var randomizationFactor = 0.5

    init(_ options: [SocketIOClientOption]) {
        self.configuration.callbacks = .main
        for option in options { self.apply(option) }
        self.configuration.reconnection = self.reconnection
    }

    /// Returns the URL, with its scheme replaced by `https` or `wss` if the options require TLS.
    func url(_ url: String) -> String {
        guard self.isSecure else { return url }
        for (plain, secure) in [("http://", "https://"), ("ws://", "wss://")] where url.hasPrefix(plain) {
            return secure + url.dropFirst(plain.count)
        }
        return url
    }

    private var reconnection: ReconnectionPolicy {
        guard self.reconnects else { return .none }
        let first = min(max(self.wait, 0), 86_400)
        let last = min(max(self.maximumWait, first), 86_400)
        return .exponential(
            from: .seconds(first), to: .seconds(last), jitter: min(max(self.randomizationFactor, 0), 1), maximumAttempts: self.attempts)
    }

    /// Returns the header fields of a dictionary, sorted by name.
    private func headers(_ fields: [String: String]) -> HTTPFields {
        var headers: HTTPFields = [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard let fieldName = HTTPField.Name(name) else {
                self.logger.info("Header field with an invalid name ignored", metadata: ["http.field": "\(name.debugDescription)"])
                continue
            }
            headers.append(HTTPField(name: fieldName, value: value))
        }
        return headers
    }

    private mutating func apply(_ option: SocketIOClientOption) {
        switch option {
        case .compress: break
        case .connectParams(let parameters): self.configuration.engine.query = parameters
        case .extraHeaders(let fields): self.configuration.engine.headers = self.headers(fields)
        case .forcePolling(let isForced): if isForced { self.configuration.engine.transports = [.polling] }
        case .forceWebsockets(let isForced): if isForced { self.configuration.engine.transports = [.webSocket] }
        case .handleQueue(let queue): self.configuration.callbacks = .queue(queue)
        case .log(let isEnabled): self.logger.logLevel = isEnabled ? .debug : .info
        case .path(let path): self.configuration.engine.path = path
        case .randomizationFactor(let factor): self.randomizationFactor = factor.isNaN ? 0 : factor
        case .reconnectAttempts(let count): self.attempts = count < 0 ? nil : count
        case .reconnects(let isEnabled): self.reconnects = isEnabled
        case .reconnectWait(let seconds): self.wait = seconds
        case .reconnectWaitMax(let seconds): self.maximumWait = seconds
        case .secure(let isSecure): self.isSecure = isSecure
        case .selfSigned(let isAccepted): if isAccepted { self.configuration.engine.tls = .insecureSkipVerification }
        case .version(.two): self.configuration.engine.version = .v3
        case .version(.three): self.configuration.engine.version = .v4
        }
    }
}
