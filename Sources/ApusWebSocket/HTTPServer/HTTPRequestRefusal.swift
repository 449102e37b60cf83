import ApusBytes
import ApusWebSocketProtocol
import NIOHTTP1

/// The response to a request that is not valid HTTP/1. The connection closes after it.
struct HTTPRequestRefusal: Equatable {
    let status: HTTPResponseStatus
    /// The body: an explanation for the developer of the client.
    let message: String
    /// Whether the response has a body. The response to HEAD has none (RFC 9110 section 9.3.2).
    private(set) var hasBody = true

    /// Creates the refusal of a request head with an unsupported version or without exactly one
    /// valid Host field. Returns `nil` if the head is accepted. Host is optional in HTTP/1.0.
    ///
    /// Source: RFC 9112 section 3.2: "A server MUST respond with a 400 (Bad Request) status code to
    /// any HTTP/1.1 request message that lacks a Host header field and to any request message that
    /// contains more than one Host header field line or a Host header field with an invalid field
    /// value."
    ///
    /// - Parameter allowsHTTP10: Whether HTTP/1.0 is accepted.
    init?(of head: HTTPRequestHead, allowsHTTP10: Bool) {
        let isHTTP10 = head.version.minor == 0  // the decoder accepts major version 1 only
        var (hosts, areValid) = (0, true)
        for (name, value) in head.headers where name.utf8.count == 4 && name.equalsIgnoringASCIICase("host") {
            hosts += 1
            areValid = areValid && value.utf8.allSatisfy(HTTPHost.contains)
        }
        if isHTTP10, !allowsHTTP10 {
            self.init(status: .httpVersionNotSupported, message: "This server requires HTTP/1.1, not \(head.version).\n")
        } else if hosts > 1 || hosts == 0 && !isHTTP10 {
            self.init(status: .badRequest, message: "A request must have exactly one Host field, not \(hosts).\n")
        } else if !areValid {
            self.init(status: .badRequest, message: "The Host field contains a character that is not valid in a host or port.\n")
        } else {
            return nil
        }
        self.hasBody = head.method != .HEAD
    }

    /// Creates the response to an error of the decoder: invalid bytes, header fields above the
    /// limits, or an incomplete request.
    init(_ error: HTTPParserError) {
        switch error {
        case .headerOverflow:
            self.init(status: .requestHeaderFieldsTooLarge, message: "The request has too many or too large header fields.\n")
        case .invalidEOFState:
            self.init(status: .badRequest, message: "The request ends before it is complete.\n")
        default:
            self.init(status: .badRequest, message: "The request is not valid HTTP/1.1: \(error).\n")
        }
    }

    private init(status: HTTPResponseStatus, message: String) {
        self.status = status
        self.message = message
    }

    /// The head of the response.
    var head: HTTPResponseHead {
        HTTPResponseHead(
            version: .http1_1, status: self.status,
            headers: [
                "Content-Type": "text/plain; charset=UTF-8", "Content-Length": String(self.message.utf8.count), "Connection": "close",
            ])
    }
}
