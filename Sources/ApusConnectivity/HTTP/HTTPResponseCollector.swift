import ApusBytes
import NIOCore
import NIOHTTP1

/// Assembles the parts of one response and limits its size.
struct HTTPResponseCollector {
    private let maximumBodyBytes: Int
    /// Whether a body beyond the maximum is truncated instead of being an error.
    private let cutsBody: Bool
    /// Whether the body was truncated, so that the rest of the response is not needed.
    private(set) var isCut = false
    private var head: HTTPResponseHead?
    private var inflater: HTTPBodyInflater?
    private var body = ByteBuffer()
    /// The receiver of the body; `nil` if the body is collected
    /// (``HTTPExchangeRequest/receiveBody``).
    private let receiveBody: (@Sendable (ByteBuffer) throws -> Void)?
    private var passesBodyOn = false

    init(maximumBodyBytes: Int, cutsBody: Bool = false, receiveBody: (@Sendable (ByteBuffer) throws -> Void)? = nil) {
        self.maximumBodyBytes = maximumBodyBytes
        self.cutsBody = cutsBody
        self.receiveBody = receiveBody
    }

    /// Whether the head of the response has arrived.
    var hasBegun: Bool { self.head != nil }

    /// Whether the connection may carry another request after this one.
    var keepsAlive: Bool { self.head?.isKeepAlive ?? false }

    /// The time for which the server keeps an idle connection, from its `Keep-Alive` field
    /// (`timeout=5`, for example).
    var keepAliveTimeout: Duration? {
        for value in self.head?.headers[canonicalForm: "Keep-Alive"] ?? [] {
            let parts = value.split(atByte: "=")
            guard parts.count == 2, parts[0].equalsIgnoringASCIICase("timeout"), let seconds = Int(digits: parts[1]) else { continue }
            return .seconds(min(seconds, 86_400))
        }
        return nil
    }

    mutating func receivedHead(_ head: HTTPResponseHead) throws(ConnectivityError) {
        self.head = head
        guard head.status != .switchingProtocols else {
            throw ConnectivityError(.httpProtocol, message: "the server switched to a protocol that was not requested")
        }
        let codings = head.headers[canonicalForm: "Content-Encoding"].filter { !$0.equalsIgnoringASCIICase("identity") }
        self.passesBodyOn = self.receiveBody != nil && codings.isEmpty && (200..<300).contains(head.status.code)
        if self.passesBodyOn { return }
        // The announced length is checked before the body arrives (docs/hazards.md, 2).
        if !self.cutsBody, let text = head.headers.first(name: "Content-Length"), let length = Int(digits: text),
            length > self.maximumBodyBytes
        {
            throw self.tooLarge("\(length)")
        }
        guard let coding = codings.first else { return }
        guard codings.count == 1, let known = HTTPBodyInflater.Coding(coding) else {
            throw ConnectivityError(.httpProtocol, message: "the response uses content codings that were not requested: \(codings)")
        }
        self.inflater = HTTPBodyInflater(known)
    }

    mutating func receivedBody(_ piece: ByteBuffer) throws(ConnectivityError) {
        if self.passesBodyOn, let receiveBody = self.receiveBody {
            do { return try receiveBody(piece) } catch {
                throw ConnectivityError(.cancelled, message: "the receiver of the body failed: \(error)", cause: error)
            }
        }
        if let inflater = self.inflater {
            return try inflater.inflate(piece, into: &self.body, maximumBytes: self.maximumBodyBytes)
        }
        guard piece.readableBytes <= self.maximumBodyBytes - self.body.readableBytes else {
            if self.cutsBody {
                self.isCut = true
                self.body.writeBytes(piece.readableBytesView.prefix(self.maximumBodyBytes - self.body.readableBytes))
                return
            }
            throw self.tooLarge("more than \(self.maximumBodyBytes)")
        }
        if self.body.readableBytes == 0 {
            self.body = piece  // most responses have one piece: avoids a copy
        } else {
            self.body.writeImmutableBuffer(piece)
        }
    }

    /// Returns the response; `nil` if no head has arrived.
    mutating func ended() throws(ConnectivityError) -> HTTPExchangeResponse? {
        try self.inflater?.finish()
        return self.head.map { HTTPExchangeResponse(status: Int($0.status.code), headers: $0.headers, body: self.body) }
    }

    private func tooLarge(_ length: String) -> ConnectivityError {
        ConnectivityError(.responseTooLarge, message: "the response has \(length) bytes; the maximum is \(self.maximumBodyBytes)")
    }
}
