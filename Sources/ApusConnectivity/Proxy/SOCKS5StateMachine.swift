package import NIOCore

/// The client side of a SOCKS 5 handshake, with or without credentials.
///
/// Implemented here because swift-nio-extras does not support credentials (RFC 1929).
///
/// Source: RFC 1928 sections 3 to 6, RFC 1929 section 2.
package struct SOCKS5StateMachine {
    private enum State: Equatable {
        /// Nothing was sent. Transitions to `waitingForMethod`.
        case idle
        /// The client offered its methods. Transitions to `waitingForLogin`, `waitingForReply` or
        /// `finished`.
        case waitingForMethod
        /// The client sent its credentials. Transitions to `waitingForReply` or `finished`.
        case waitingForLogin
        /// The client sent its request. Transitions to `finished`.
        case waitingForReply
        /// Connected or failed. Final.
        case finished
    }

    private var state = State.idle
    private let destination: [UInt8]
    private let login: [UInt8]?

    /// - Parameters:
    ///   - host: A name, which the proxy resolves, or an address.
    ///   - port: The port, 1 to 65535.
    ///   - credentials: The credentials, if any. Sent only if the proxy requires them.
    /// - Throws: `invalidConfiguration` if the port is invalid, or the host, the user name or the
    ///   password is empty or longer than 255 bytes.
    package init(host: String, port: Int, credentials: ProxySettings.Credentials?) throws(ConnectivityError) {
        guard let port = UInt16(exactly: port), port > 0 else {
            throw ConnectivityError(.invalidConfiguration, message: "the port must be from 1 to 65535, not \(port)")
        }
        let address: [UInt8]
        if let bytes = IPAddress(host)?.bytes {
            address = [bytes.count == 4 ? 1 : 4] + bytes
        } else {
            guard let length = UInt8(exactly: host.utf8.count), length > 0 else {
                throw ConnectivityError(
                    .invalidConfiguration, message: "the host must have 1 to 255 bytes for SOCKS, not \(host.utf8.count)")
            }
            address = [3, length] + host.utf8
        }
        self.destination = address + [UInt8(port >> 8), UInt8(port & 0xFF)]
        self.login = try credentials.map { (credentials) throws(ConnectivityError) in
            guard let name = UInt8(exactly: credentials.username.utf8.count), name > 0,
                let password = UInt8(exactly: credentials.password.utf8.count), password > 0
            else {
                throw ConnectivityError(
                    .invalidConfiguration, message: "the user name and the password for SOCKS must have 1 to 255 bytes each")
            }
            return [1, name] + credentials.username.utf8 + [password] + credentials.password.utf8
        }
    }

    /// Returns the bytes to send first.
    package mutating func start() -> [UInt8] {
        self.state = .waitingForMethod
        return self.login == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }

    /// Consumes one reply from `bytes`. A reply has at most 262 bytes.
    package mutating func receivedBytes(_ bytes: inout ByteBuffer) -> ProxyAction {
        switch self.state {
        case .idle:
            return self.fail(.proxyProtocol, "it sent bytes before the client's first message")
        case .waitingForMethod:
            guard let version = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return .waitForMore }
            guard version == 5 else { return self.fail(.proxyProtocol, "the version is \(version), not 5") }
            guard bytes.readableBytes >= 2, let answer = bytes.readBytes(length: 2) else { return .waitForMore }
            return self.chosen(method: answer[1])
        case .waitingForLogin:
            guard let answer = bytes.readBytes(length: 2) else { return .waitForMore }
            // "The VER field contains the current version of the subnegotiation, which is X'01'";
            // some proxies answer 5.
            guard answer[0] == 1 || answer[0] == 5 else { return self.fail(.proxyProtocol, "the login has version \(answer[0]), not 1") }
            guard answer[1] == 0 else { return self.fail(.proxyAuthentication, "it rejected the user name or password") }
            return self.request()
        case .waitingForReply:
            return self.reply(&bytes)
        case .finished:
            return .waitForMore  // finished: the bytes stay in the buffer
        }
    }

    private mutating func chosen(method: UInt8) -> ProxyAction {
        switch method {
        case 0: return self.request()
        case 2:
            guard let login = self.login else { return self.fail(.proxyProtocol, "it selected a method that was not offered") }
            self.state = .waitingForLogin
            return .send(login)
        case 0xFF:
            return self.fail(.proxyAuthentication, self.login == nil ? "it requires credentials" : "it accepts no offered method")
        default: return self.fail(.proxyProtocol, "it selected a method that was not offered")
        }
    }

    private mutating func request() -> ProxyAction {
        self.state = .waitingForReply
        return .send([5, 1, 0] + self.destination)
    }

    private mutating func reply(_ bytes: inout ByteBuffer) -> ProxyAction {
        let start = bytes.readerIndex
        guard let version = bytes.getInteger(at: start, as: UInt8.self) else { return .waitForMore }
        guard version == 5 else { return self.fail(.proxyProtocol, "the version is \(version), not 5") }
        guard let code = bytes.getInteger(at: start + 1, as: UInt8.self) else { return .waitForMore }
        // A refusal is complete at this point: some proxies omit the rest of the reply.
        guard code == 0 else { return self.fail(.proxyRefused, Self.refusal(code)) }
        guard let kind = bytes.getInteger(at: start + 3, as: UInt8.self) else { return .waitForMore }
        let addressBytes: Int
        switch kind {
        case 1: addressBytes = 4
        case 4: addressBytes = 16
        case 3:
            guard let length = bytes.getInteger(at: start + 4, as: UInt8.self) else { return .waitForMore }
            addressBytes = 1 + Int(length)
        default: return self.fail(.proxyProtocol, "the reply has the unknown address type \(kind)")
        }
        guard bytes.readableBytes >= 6 + addressBytes else { return .waitForMore }
        bytes.moveReaderIndex(forwardBy: 6 + addressBytes)
        self.state = .finished
        return .connected
    }

    private static func refusal(_ code: UInt8) -> String {
        switch code {
        case 1: "general failure"
        case 2: "its rules do not allow the connection"
        case 3: "the network is unreachable"
        case 4: "the host is unreachable"
        case 5: "the server refused the connection"
        case 6: "the connection timed out"
        case 7: "it does not support CONNECT"
        case 8: "it does not support this address type"
        default: "it replied with code \(code)"
        }
    }

    private mutating func fail(_ code: ConnectivityError.Code, _ message: String) -> ProxyAction {
        self.state = .finished
        return .fail(ConnectivityError(code, message: "the SOCKS proxy: \(message)"))
    }
}
