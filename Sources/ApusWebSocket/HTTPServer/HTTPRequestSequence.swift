import ApusBytes
import DequeModule
import NIOHTTP1

/// Orders the requests of one HTTP/1 connection. It passes on one request at a time, and the next
/// one after the response. Performs no I/O.
///
/// All events after an unanswered request wait: parts of requests, a decoder error, and the end of
/// the input.
///
/// Source: RFC 9112 sections 9.3 (persistence and pipelining), 9.6 (tear-down), 6 (bodies).
struct HTTPRequestSequence {
    /// An event of the decoder.
    enum Event {
        case part(HTTPServerRequestPart)
        /// The bytes are not HTTP, the header fields exceed the limits, or the request is
        /// incomplete.
        case failure(HTTPParserError)
        /// The peer closed its side of the connection.
        case inputClosed
    }

    private enum Answer {
        case none, begun, ended
    }

    private struct Exchange {
        let isHTTP10: Bool
        let isHEAD: Bool
        /// Whether another request may follow.
        var keepsAlive: Bool
        var requestHasEnded = false
        var answer = Answer.none
    }

    private enum State {
        /// Between requests. Transitions to `busy` (a head) or `finished`.
        case idle
        /// A request, its response, or both are incomplete. Transitions to `idle`, `upgraded` or
        /// `finished`.
        case busy(Exchange)
        /// The response was 101, so the connection no longer uses HTTP. Final.
        case upgraded
        /// The last response is written, or no response can be written. Final.
        case finished
    }

    /// The maximum number of waiting events. A read of small requests produces fewer events. The
    /// limit is exceeded only if the peer closes its side of the connection, because the remaining
    /// bytes of the socket are then read in one turn.
    static let maximumPendingEvents = 4096

    private let allowsHTTP10: Bool
    private var state = State.idle
    private var pending: Deque<Event> = []

    /// - Parameter allowsHTTP10: Whether HTTP/1.0 requests are accepted. If `false`, they are
    ///   answered with 505.
    init(allowsHTTP10: Bool) {
        self.allowsHTTP10 = allowsHTTP10
    }

    /// Whether further bytes of the peer are discarded.
    var isFinished: Bool {
        if case .finished = self.state { true } else { false }
    }

    /// Whether further bytes would only be queued in this object. They are then left in the socket.
    var pausesReading: Bool {
        switch self.state {
        case .busy(let exchange): exchange.requestHasEnded || !self.pending.isEmpty
        case .idle, .upgraded, .finished: false
        }
    }

    // MARK: Requests

    enum Action {
        case pass(HTTPServerRequestPart)
        /// Send the response and close. `because` is the decoder's error, if there was one.
        case refuse(HTTPRequestRefusal, because: HTTPParserError?)
        /// Close, because of an error in a request whose response has begun.
        case close(because: HTTPParserError)
        /// Pass on the end of the input.
        case inputClosed(isIdle: Bool)
    }

    enum Reception {
        case act(Action)
        /// The event waits for a response, or is discarded.
        case doNothing
        /// Close: ``maximumPendingEvents`` is exceeded.
        case tooMany
    }

    /// Handles an event of the decoder.
    mutating func receivedEvent(_ event: Event) -> Reception {
        if self.pending.isEmpty {
            switch self.step(event, isLast: true) {
            case .act(let action): return .act(action)
            case .discard: return .doNothing
            case .wait: break
            }
        }
        self.pending.append(event)
        return self.pending.count <= Self.maximumPendingEvents ? .doNothing : .tooMany
    }

    /// Returns the next action for the waiting events; `nil` if none can be performed.
    mutating func next() -> Action? {
        while let event = self.pending.first {
            let step = self.step(event, isLast: self.pending.count == 1)
            if case .wait = step { return nil }
            _ = self.pending.popFirst()
            if case .act(let action) = step { return action }
        }
        return nil
    }

    private enum Step {
        case act(Action), wait, discard
    }

    private mutating func step(_ event: Event, isLast: Bool) -> Step {
        switch (self.state, event) {
        case (.finished, _), (.upgraded, _), (.idle, .part(.body)), (.idle, .part(.end)):
            return .discard
        case (.idle, .part(.head(let head))):
            return .act(self.begin(head))
        case (.idle, .failure(let error)):
            self.finish()
            return .act(.refuse(HTTPRequestRefusal(error), because: error))
        case (.idle, .inputClosed):
            return .act(.inputClosed(isIdle: true))
        case (.busy(let exchange), .part(let part)):
            guard !exchange.requestHasEnded else { return .wait }
            if case .end = part { self.requestEnded(exchange) }
            return .act(.pass(part))
        case (.busy(let exchange), .failure(let error)):
            guard !exchange.requestHasEnded else { return .wait }
            self.finish()
            return .act(exchange.answer == .none ? .refuse(HTTPRequestRefusal(error), because: error) : .close(because: error))
        case (.busy, .inputClosed):
            // A responder may stop its work when the peer has closed its side.
            return isLast ? .act(.inputClosed(isIdle: false)) : .wait
        }
    }

    private mutating func begin(_ head: HTTPRequestHead) -> Action {
        if let refusal = HTTPRequestRefusal(of: head, allowsHTTP10: self.allowsHTTP10) {
            self.finish()
            return .refuse(refusal, because: nil)
        }
        var head = head
        let isHTTP10 = head.version.minor == 0
        // RFC 9110 section 7.8: "A server MUST ignore an Upgrade header field that is received in
        // an HTTP/1.0 request."
        if isHTTP10 { head.headers.remove(name: "Upgrade") }
        // NIO's decoder stops after a request for an upgrade to another protocol.
        let requestsUpgrade =
            head.headers.contains(name: "Upgrade")
            && head.headers[canonicalForm: "Connection"].contains { $0.equalsIgnoringASCIICase("upgrade") }
        let stopsDecoder = head.method == .CONNECT || requestsUpgrade
        self.state = .busy(
            Exchange(isHTTP10: isHTTP10, isHEAD: head.method == .HEAD, keepsAlive: head.isKeepAlive && !stopsDecoder))
        return .pass(.head(head))
    }

    private mutating func requestEnded(_ exchange: Exchange) {
        var exchange = exchange
        exchange.requestHasEnded = true
        self.state = exchange.answer == .ended ? .idle : .busy(exchange)
    }

    // MARK: Responses

    /// Returns the response head to write; `nil` to drop it.
    mutating func answered(_ head: HTTPResponseHead) -> HTTPResponseHead? {
        switch self.state {
        case .finished: return nil
        case .idle, .upgraded: return head
        case .busy(var exchange):
            var head = head
            if head.status == .switchingProtocols {
                self.state = .upgraded
                return head
            }
            guard head.status.code >= 200 else { return head }
            exchange.answer = .begun
            // Without a Connection field, which few responses have, HTTP/1.1 keeps the connection
            // open.
            let mayClose = head.version != .http1_1 || head.headers.contains(name: "Connection")
            if mayClose, !head.isKeepAlive { exchange.keepsAlive = false }
            if exchange.isHTTP10 { Self.fit(&head, to: &exchange) }
            if !exchange.keepsAlive { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            self.state = .busy(exchange)
            return head
        }
    }

    /// Adapts a response to an HTTP/1.0 client, which does not support the chunked transfer coding,
    /// and keeps the connection open only if the response contains `Connection: keep-alive`.
    private static func fit(_ head: inout HTTPResponseHead, to exchange: inout Exchange) {
        let hasBody = !exchange.isHEAD && head.status != .noContent && head.status != .notModified
        if hasBody, !head.headers.contains(name: "Content-Length") {
            head.headers.remove(name: "Transfer-Encoding")
            head.version = .http1_0  // makes the encoder delimit the body by the end of the connection
            exchange.keepsAlive = false
        } else if exchange.keepsAlive {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
    }

    enum WriteAction {
        case write, writeAndClose, drop
    }

    /// Returns whether a part of a response body is to be written.
    func answeredBody() -> WriteAction { self.isFinished ? .drop : .write }

    /// Returns how the end of a response is to be written.
    mutating func answerEnded() -> WriteAction {
        switch self.state {
        case .finished: return .drop
        case .idle, .upgraded: return .write
        case .busy(var exchange):
            guard exchange.keepsAlive else {
                self.finish()
                return .writeAndClose
            }
            exchange.answer = .ended
            self.state = exchange.requestHasEnded ? .idle : .busy(exchange)
            return .write
        }
    }

    // MARK: The end

    /// Ends the sequence when the connection closes or no further request is read.
    mutating func finish() {
        self.state = .finished
        self.pending.removeAll()
    }
}
