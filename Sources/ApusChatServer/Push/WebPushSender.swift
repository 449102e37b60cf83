import ApusBytes
import ApusChatService
import ApusChatStorage
import ApusConnectivity
import ApusJSON
import ApusWebPush
import Crypto
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends notifications to the push services of browsers (RFC 8030).
///
/// An endpoint is a URL from a client. Requests to an endpoint use only TLS and public addresses,
/// follow no redirects, and limit the size of the response.
final class WebPushSender: Sendable {
    private struct Content: Sendable {
        var notice: PushNotice
        var subscription: PushSubscription
    }

    private struct State: Sendable {
        var queue = PushQueue<Content>()
        var isScheduled = false
        var isClosed = false
    }

    /// The time for which a push service stores a notification for a device that is offline.
    private static let lifetime = Duration.seconds(24 * 3_600)
    /// The time for which a push service stores the notification of a call. It is useless after the
    /// call.
    private static let urgentLifetime = Duration.seconds(60)
    private static let timeout = Duration.seconds(15)
    private static let answerBytes = 4_096

    private let vapid: VAPID
    private let rules: AddressRules
    private let tls: TLSSettings
    private let clock: SystemClock
    private let logger: Logger
    private let forget: @Sendable (DeviceKey, _ subscription: String) async -> Void
    private let eventLoop: any EventLoop
    private let state = NIOLockedValueBox(State())

    /// - Parameter forget: Removes a subscription that no longer exists at its push service.
    init(
        _ vapid: VAPID, configuration: ChatServerConfiguration, logger: Logger,
        forget: @escaping @Sendable (DeviceKey, _ subscription: String) async -> Void
    ) {
        self.vapid = vapid
        self.rules = AddressRules(exceptions: configuration.environment.outgoingNetworks.compactMap { IPNetwork($0) })
        self.tls = configuration.environment.outgoingAuthorities.map { .trusting(authoritiesPEM: $0) } ?? .system
        self.clock = configuration.environment.clock
        self.logger = logger
        self.forget = forget
        self.eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    }

    /// Queues notifications. This method can be called on any thread.
    func send(_ notices: [PushNotice]) {
        let time = self.clock.monotonic()
        let isAccepted = self.state.withLockedValue { state in
            guard !state.isClosed else { return true }
            var isAccepted = true
            for notice in notices {
                // `push.set` validated the subscription before it was stored.
                guard let json = (try? JSONValue(jsonString: notice.subscription))?.objectValue,
                    let subscription = try? PushSubscription(json: json)
                else { continue }
                let lifetime = (notice.isUrgent ? Self.urgentLifetime : Self.lifetime) / .milliseconds(1)
                let push = PushQueue<Content>.Push(
                    device: notice.device.rawValue, topic: notice.topic, expiresAt: time + Int64(lifetime),
                    content: Content(notice: notice, subscription: subscription))
                isAccepted = state.queue.add(push, at: time) && isAccepted
            }
            return isAccepted
        }
        if !isAccepted { self.logger.warning("The queue of notifications is full; some were dropped") }
        self.work()
    }

    /// Discards waiting pushes. Running requests are not interrupted.
    func close() async {
        self.state.withLockedValue { state in
            state.isClosed = true
            state.queue = PushQueue()
        }
    }

    /// Sends the pushes that are due, and schedules the next call for the others.
    private func work() {
        let time = self.clock.monotonic()
        let (pushes, delay) = self.state.withLockedValue { state -> ([PushQueue<Content>.Push], Int64?) in
            let pushes = state.queue.next(at: time)
            guard !state.isScheduled, let next = state.queue.nextTime(after: time) else { return (pushes, nil) }
            state.isScheduled = true
            return (pushes, max(10, next - time))
        }
        for push in pushes {
            Task {
                let outcome = await self.outcome(of: push)
                var generator = SystemRandomNumberGenerator()
                self.state.withLockedValue {
                    $0.queue.ended(push.device, outcome, at: self.clock.monotonic(), using: &generator)
                }
                self.work()
            }
        }
        guard let delay else { return }
        self.eventLoop.scheduleTask(in: .milliseconds(delay)) {
            self.state.withLockedValue { $0.isScheduled = false }
            self.work()
        }
    }

    // MARK: One request

    private func outcome(of push: PushQueue<Content>.Push) async -> PushQueue<Content>.Outcome {
        let endpoint = push.content.subscription.endpoint
        do {
            let response = try await self.exchange(push)
            switch response.status {
            case 200...299: return .done
            case 404, 410:
                await self.forget(push.content.notice.device, push.content.notice.subscription)
                self.logger.info(
                    "A subscription was removed because it does not exist at its push service", metadata: ["push.host": "\(endpoint.host)"])
                return .gone
            case 429, 500...599:
                return .failed(
                    after: response.headers.first(name: "Retry-After").flatMap { Int64(digits: $0) }.map { min($0, 86_400) * 1_000 })
            default:
                self.logger.warning(
                    "A push service refused a notification",
                    metadata: ["push.host": "\(endpoint.host)", "push.status": "\(response.status)"])
                return .done
            }
        } catch {
            // The endpoint is a secret of the client, so only its host is logged.
            self.logger.info("A notification could not be sent", metadata: ["push.host": "\(endpoint.host)", "error": "\(error)"])
            return .failed(after: nil)
        }
    }

    private func exchange(_ push: PushQueue<Content>.Push) async throws -> HTTPExchangeResponse {
        let (notice, subscription) = (push.content.notice, push.content.subscription)
        let endpoint = subscription.endpoint
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        let body = try PushEncryption.encrypt(notice.content, for: subscription, key: P256.KeyAgreement.PrivateKey(), salt: salt)
        let seconds = max(0, (push.expiresAt - self.clock.monotonic()) / 1_000)
        var request = HTTPExchangeRequest(
            .POST, endpoint.target,
            headers: [
                "Content-Type": "application/octet-stream", "Content-Encoding": "aes128gcm", "TTL": String(seconds),
                "Urgency": notice.isUrgent ? "high" : "normal", "Topic": notice.topic,
                "Authorization": try self.vapid.authorization(for: endpoint, at: self.clock.wall() / 1_000),
            ], body: ByteBuffer(bytes: body))
        request.acceptsCompression = false
        var dialer = Dialer(tls: self.tls)
        dialer.connectTimeout = .seconds(5)
        dialer.tlsTimeout = .seconds(5)
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        dialer.resolver = CheckedResolver(self.rules, on: eventLoop)
        var configuration = HTTPExchanger.Configuration(
            origin: HTTPOrigin(isSecure: true, host: endpoint.host, port: endpoint.port), dialer: dialer)
        configuration.maximumConnections = 1
        configuration.maximumBodyBytes = Self.answerBytes
        let client = HTTPExchangeClient(configuration: configuration, eventLoop: eventLoop)
        defer { client.finish() }
        return try await client.send(request, timeout: Self.timeout)
    }
}
