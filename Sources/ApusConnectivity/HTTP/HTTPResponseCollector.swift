import ApusBytes
import NIOCore
import NIOHTTP1

/// Puts the parts of one answer together, within bounds.
struct HTTPResponseCollector {
    private let maximumBodyBytes: Int
    private var head: HTTPResponseHead?
    private var inflater: HTTPBodyInflater?
    private var body = ByteBuffer()

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Whether something of the answer came.
    var hasBegun: Bool { self.head != nil }

    /// Whether the connection may carry another request after this one.
    var keepsAlive: Bool { self.head?.isKeepAlive ?? false }

    /// How long the server keeps an idle connection, when it says so: Node's `Keep-Alive: timeout=5`.
    var keepAliveTimeout: Duration? {
        for value in self.head?.headers[canonicalForm: "Keep-Alive"] ?? [] {
            let parts = value.split(atByte: "=")
            guard parts.count == 2, parts[0].equalsIgnoringASCIICase("timeout"), let seconds = Int(parts[1]), seconds >= 0 else { continue }
            return .seconds(min(seconds, 86_400))
        }
        return nil
    }

    mutating func received(_ head: HTTPResponseHead) throws(ConnectivityError) {
        self.head = head
        guard head.status != .switchingProtocols else {
            throw ConnectivityError(.httpProtocol, message: "the server changes to a protocol nobody asked for")
        }
        // Judge the announced length now: what is too much is not waited for (hazard 2).
        if let text = head.headers.first(name: "Content-Length"), let length = Int(text), length > self.maximumBodyBytes {
            throw self.tooLarge("\(length)")
        }
        let codings = head.headers[canonicalForm: "Content-Encoding"].filter { !$0.equalsIgnoringASCIICase("identity") }
        guard let coding = codings.first else { return }
        guard codings.count == 1, let known = HTTPBodyInflater.Coding(coding) else {
            throw ConnectivityError(.httpProtocol, message: "the answer is coded in a way that was not asked for: \(codings)")
        }
        self.inflater = HTTPBodyInflater(known)
    }

    mutating func received(_ piece: ByteBuffer) throws(ConnectivityError) {
        if let inflater = self.inflater {
            return try inflater.inflate(piece, into: &self.body, maximumBytes: self.maximumBodyBytes)
        }
        guard piece.readableBytes <= self.maximumBodyBytes - self.body.readableBytes else {
            throw self.tooLarge("more than \(self.body.readableBytes)")
        }
        if self.body.readableBytes == 0 {
            self.body = piece  // most answers are one piece: not copied
        } else {
            self.body.writeImmutableBuffer(piece)
        }
    }

    /// The answer, or `nil` when it ended before it began.
    mutating func ended() throws(ConnectivityError) -> HTTPExchangeResponse? {
        try self.inflater?.finish()
        return self.head.map { HTTPExchangeResponse(status: Int($0.status.code), headers: $0.headers, body: self.body) }
    }

    private func tooLarge(_ length: String) -> ConnectivityError {
        ConnectivityError(.responseTooLarge, message: "the answer has \(length) bytes, \(self.maximumBodyBytes) are allowed")
    }
}
