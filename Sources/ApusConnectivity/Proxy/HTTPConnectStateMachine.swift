package import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The client side of an HTTP `CONNECT`.
///
/// Implemented here because NIO's response parser does not stop after the 200 response: it parses
/// the server's first bytes in the same read as a second response and fails.
/// `NIOHTTP1ProxyConnectHandler` uses that parser and fails if the server sends bytes before the
/// client does.
///
/// Source: RFC 9110 sections 9.3.6, 15.2; RFC 9112 section 3.2.3.
package struct HTTPConnectStateMachine {
    /// The maximum size of the proxy's response, including interim responses. Unit: bytes.
    package static let maximumHeadBytes = 16 << 10

    private enum State: Equatable {
        /// The response is incomplete, and this number of bytes was searched. Transitions to
        /// `finished`.
        case waiting(searched: Int)
        /// Connected or failed. Final.
        case finished
    }

    private var state = State.waiting(searched: 0)
    /// The size of the discarded interim responses.
    private var skippedBytes = 0
    private let request: String

    /// - Parameters:
    ///   - host: A name, which the proxy resolves, or an address (IPv6 without brackets).
    ///   - port: The port, 1 to 65535.
    ///   - credentials: The credentials sent with the request as Basic (RFC 7617), if any.
    /// - Throws: `invalidConfiguration` if the host or the user name is not valid in a request.
    package init(host: String, port: Int, credentials: ProxySettings.Credentials?) throws(ConnectivityError) {
        let authority = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        guard !host.isEmpty, authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ConnectivityError(
                .invalidConfiguration, message: "the host must not be empty or contain spaces, control characters or non-ASCII characters")
        }
        var request = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let credentials {
            // "a user-id containing a colon character is invalid"
            guard !credentials.username.utf8.contains(UInt8(ascii: ":")) else {
                throw ConnectivityError(.invalidConfiguration, message: "the proxy's user name must not contain a colon")
            }
            let text = Data("\(credentials.username):\(credentials.password)".utf8).base64EncodedString()
            request += "Proxy-Authorization: Basic \(text)\r\n"
        }
        self.request = request + "\r\n"
    }

    /// Returns the request to send first.
    package func start() -> [UInt8] { Array(self.request.utf8) }

    /// Consumes the proxy's response from `bytes`.
    package mutating func receivedBytes(_ bytes: inout ByteBuffer) -> ProxyAction {
        while case .waiting(let searched) = self.state {
            guard let length = Self.headLength(bytes.readableBytesView, from: searched) else {
                guard self.skippedBytes + bytes.readableBytes <= Self.maximumHeadBytes else { return self.failEndless() }
                // The terminator may begin in the last three bytes.
                self.state = .waiting(searched: max(0, bytes.readableBytes - 3))
                return .waitForMore
            }
            guard self.skippedBytes + length <= Self.maximumHeadBytes else { return self.failEndless() }
            guard let head = bytes.readSlice(length: length), let status = Self.status(head.readableBytesView) else {
                return self.fail(.proxyProtocol, "the response is not valid HTTP")
            }
            switch status {
            case 200..<300:
                self.state = .finished
                return .connected
            case 100..<200 where status != 101:  // an interim response, the final one follows
                self.skippedBytes += length
                self.state = .waiting(searched: 0)
            case 407: return self.fail(.proxyAuthentication, "it requires valid credentials (407)")
            default: return self.fail(.proxyRefused, "it answered \(status)")
            }
        }
        return .waitForMore  // finished: the bytes stay in the buffer
    }

    /// Searches for the empty line that ends the head, from an offset. Returns the length of the
    /// head; `nil` if the head is incomplete.
    private static func headLength(_ bytes: ByteBufferView, from: Int) -> Int? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= end.count else { return nil }
        var index = bytes.startIndex + from
        while let found = bytes[index...].firstIndex(of: 13), found + end.count <= bytes.endIndex {
            if bytes[found..<found + end.count].elementsEqual(end) { return found + end.count - bytes.startIndex }
            index = found + 1
        }
        return nil
    }

    /// Parses `HTTP/1.x SP 3DIGIT ( SP … / CR )`.
    private static func status(_ head: ByteBufferView) -> Int? {
        let bytes = Array(head.prefix(13))
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard bytes.count == 13, bytes.starts(with: Array("HTTP/1.".utf8)), digits.contains(bytes[7]), bytes[8] == UInt8(ascii: " "),
            bytes[9..<12].allSatisfy(digits.contains), bytes[12] == UInt8(ascii: " ") || bytes[12] == 13
        else { return nil }
        return bytes[9..<12].reduce(0) { $0 * 10 + Int($1 - digits.lowerBound) }
    }

    private mutating func failEndless() -> ProxyAction {
        self.fail(.proxyProtocol, "the response exceeds \(Self.maximumHeadBytes) bytes")
    }

    private mutating func fail(_ code: ConnectivityError.Code, _ message: String) -> ProxyAction {
        self.state = .finished
        return .fail(ConnectivityError(code, message: "the HTTP proxy: \(message)"))
    }
}
