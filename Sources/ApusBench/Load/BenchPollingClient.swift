import ApusConnectivity
import ApusWebSocketProtocol
import Foundation
import NIOCore

/// A Socket.IO client of the load generator that uses HTTP long-polling, with one keep-alive
/// connection for GET requests and one for POST requests. Confined to its loop.
///
/// While a POST request is in flight, further messages are buffered, as in the JavaScript client.
final class BenchPollingClient: BenchPeer {
    private static let timeout = Duration.seconds(30)

    private unowned let worker: BenchWorker
    private var ready: EventLoopPromise<Void>?
    private var window: BenchWindow
    private var polls: BenchHTTPConnection?
    private var posts: BenchHTTPConnection?
    private var sid = ""
    private var isPosting = false
    /// The packets for the next POST request.
    private var outgoing = ""
    private var deadline: Scheduled<Void>?
    private var deliveries = 0
    private var awaitsAttachment = false
    private var attachmentPlace: Int?
    private var hasEnded = false

    private let messages: BenchMessages
    /// The message for each slot, or the one message that all slots share.
    private let packets: [String]

    init(worker: BenchWorker, number: Int, ready: EventLoopPromise<Void>) {
        self.worker = worker
        self.ready = ready
        (self.messages, _, self.packets) = worker.voice(number)
        self.window = BenchWindow(capacity: max(worker.plan.inFlight, 1), isNumbered: worker.messages.isNumbered)
    }

    func start() {
        self.deadline = self.worker.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.timeout)) {
            self.failed(BenchError("a client was not ready within \(Self.timeout)"))
        }
        do {
            let url = try WebSocketURL(self.worker.plan.url)
            var dialer = Dialer(tls: url.isSecure ? self.worker.plan.tls : nil)
            dialer.connectTimeout = Self.timeout
            self.dial(url, dialer) { polls in
                self.polls = polls
                self.dial(url, dialer) { posts in
                    self.posts = posts
                    self.poll()
                }
            }
        } catch {
            self.failed(error)
        }
    }

    private func dial(_ url: WebSocketURL, _ dialer: Dialer, _ then: @escaping (BenchHTTPConnection) -> Void) {
        let attempt = dialer.dial(.host(url.host, port: url.port), name: url.host, on: self.worker.eventLoop)
        attempt.futureResult.assumeIsolated().whenComplete { result in
            do {
                let connection = BenchHTTPConnection(
                    url: url, headers: self.worker.plan.headers,
                    onEnd: { [weak self] error in self?.failed(error) })
                try result.get().pipeline.syncOperations.addHandler(connection)
                then(connection)
            } catch {
                self.failed(error)
            }
        }
    }

    private func failed(_ error: any Error) {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.deadline?.cancel()
        self.polls?.close()
        self.posts?.close()
        if let ready = self.ready.take() { ready.fail(error) } else { self.worker.ended(self) }
    }

    // MARK: The load

    func send(_ count: Int, meantFor time: UInt64) -> Int {
        guard !self.hasEnded else { return 0 }
        var sent = 0
        while sent < count {
            var place = 0
            if !self.worker.isBroadcast {
                guard let free = self.window.sent(at: time) else { break }
                place = free
            }
            self.outgoing +=
                (self.outgoing.isEmpty ? "" : "\u{1e}") + self.packets[self.messages.isNumbered ? place : 0]
            sent += 1
        }
        self.post()
        return sent
    }

    func takeUnanswered() -> [UInt64] { self.window.takeUnanswered() }

    func close() {
        self.hasEnded = true
        self.polls?.close()
        self.posts?.close()
    }

    // MARK: Requests

    private func poll() {
        self.polls?.request("GET", sid: self.sid, body: nil) { [weak self] response in self?.polled(response) }
    }

    private func post() {
        guard !self.isPosting, !self.outgoing.isEmpty, let posts = self.posts else { return }
        self.isPosting = true
        posts.request("POST", sid: self.sid, body: self.outgoing) { [weak self] response in
            guard let self else { return }
            guard response.status == 200 else {
                return self.failed(BenchError("the server answered a POST request with status \(response.status)"))
            }
            self.isPosting = false
            self.post()
        }
        self.outgoing = ""
    }

    private func polled(_ response: BenchHTTPScanner.Response) {
        guard response.status == 200 else {
            return self.failed(BenchError("the server answered a poll with status \(response.status)"))
        }
        let now = BenchWorker.now
        var answers = 0
        response.body.readableBytesView.withUnsafeBytes { bytes in
            var start = 0
            for end in 0...bytes.count where end == bytes.count || bytes[end] == 0x1e {
                answers += self.receivedBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), response.body, at: now)
                start = end + 1
            }
        }
        guard !self.hasEnded else { return }
        self.poll()
        guard answers > 0 else { return }
        if self.worker.isBroadcast { self.worker.deliveriesCounted(at: now) } else { self.worker.answered(answers, by: self, at: now) }
    }

    /// Processes a packet and returns the number of answers in it: 0 or 1.
    private func receivedBytes(_ bytes: UnsafeRawBufferPointer, _ body: ByteBuffer, at now: UInt64) -> Int {
        if bytes.first == UInt8(ascii: "b") {
            guard self.awaitsAttachment else { return 0 }
            self.awaitsAttachment = false
            return self.answered(place: self.attachmentPlace, at: now)
        }
        switch self.messages.meaning(ofText: bytes) {
        case .answer: return self.answered(place: nil, at: now)
        case .answerTo(let place): return self.answered(place: place, at: now)
        case .attachmentFollows(let place):
            self.awaitsAttachment = true
            self.attachmentPlace = place
        case .ping: self.enqueue("3")
        case .open:
            let text = String(decoding: bytes, as: UTF8.self)
            guard let start = text.range(of: "\"sid\":\""), let end = text[start.upperBound...].firstIndex(of: "\"") else {
                self.failed(BenchError("the server's handshake contains no session ID"))
                return 0
            }
            self.sid = String(text[start.upperBound..<end])
            self.enqueue(self.messages.join)
        case .joined:
            guard let ready = self.ready.take() else { return 0 }
            self.deadline?.cancel()
            for join in self.messages.roomJoins { self.enqueue(join) }
            self.worker.opened(self)
            ready.succeed()
        case .refused: self.failed(BenchError("the server refused the namespace"))
        case .nothing: break
        }
        return 0
    }

    private func answered(place: Int?, at now: UInt64) -> Int {
        if self.worker.isBroadcast {
            self.worker.delivered(sequence: self.deliveries, at: now)
            self.deliveries += 1
            return 1
        }
        let sent: UInt64? = if let place { self.window.answered(place: place) } else { self.window.answered() }
        guard let sent else { return 0 }
        self.worker.record(sent: sent, at: now)
        return 1
    }

    private func enqueue(_ packet: String) {
        self.outgoing += (self.outgoing.isEmpty ? "" : "\u{1e}") + packet
        self.post()
    }
}

@available(*, unavailable)
extension BenchPollingClient: Sendable {}
