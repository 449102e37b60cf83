package import NIOCore

/// The client's half of a SOCKS 5 handshake, with and without a password.
///
/// Our own because the handler of swift-nio-extras knows no credentials (RFC 1929).
///
/// Source: RFC 1928 3 to 6, RFC 1929 2.
package struct SOCKS5StateMachine {
    private enum State: Equatable {
        /// Nothing was sent. Leaves to `waitingForMethod`.
        case idle
        /// The methods were offered. Leaves to `waitingForLogin`, `waitingForReply` or `finished`.
        case waitingForMethod
        /// Name and password were sent. Leaves to `waitingForReply` or `finished`.
        case waitingForLogin
        /// The proxy connects. Leaves to `finished`.
        case waitingForReply
        /// Connected or failed. Final.
        case finished
    }

    private var state = State.idle
    private let destination: [UInt8]
    private let login: [UInt8]?

    /// - Parameters:
    ///   - host: A name, which the proxy looks up, or an address.
    ///   - port: 1 to 65535.
    ///   - credentials: Sent only to a proxy that asks.
    /// - Throws: `invalidSettings` when a text is longer than the 255 bytes that fit.
    package init(host: String, port: Int, credentials: ProxySettings.Credentials?) throws(ConnectivityError) {
        guard let port = UInt16(exactly: port), port > 0 else {
            throw ConnectivityError(.invalidSettings, message: "\(port) is no port")
        }
        let address: [UInt8]
        if let bytes = IPAddressBytes(host)?.bytes {
            address = [bytes.count == 4 ? 1 : 4] + bytes
        } else {
            guard let length = UInt8(exactly: host.utf8.count), length > 0 else {
                throw ConnectivityError(.invalidSettings, message: "a host of \(host.utf8.count) bytes is too long for SOCKS")
            }
            address = [3, length] + host.utf8
        }
        self.destination = address + [UInt8(port >> 8), UInt8(port & 0xFF)]
        self.login = try credentials.map { (credentials) throws(ConnectivityError) in
            guard let name = UInt8(exactly: credentials.username.utf8.count), name > 0,
                let password = UInt8(exactly: credentials.password.utf8.count), password > 0
            else {
                throw ConnectivityError(.invalidSettings, message: "a name and a password for SOCKS have 1 to 255 bytes each")
            }
            return [1, name] + credentials.username.utf8 + [password] + credentials.password.utf8
        }
    }

    /// What is sent first.
    package mutating func start() -> [UInt8] {
        self.state = .waitingForMethod
        return self.login == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }

    /// Takes one answer out of `bytes`; an answer has at most 262 bytes.
    package mutating func received(_ bytes: inout ByteBuffer) -> ProxyAction {
        switch self.state {
        case .idle:
            return self.fail(.proxyProtocol, "it speaks before it is asked")
        case .waitingForMethod:
            guard let version = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return .waitForMore }
            guard version == 5 else { return self.fail(.proxyProtocol, "its version is \(version), not 5") }
            guard bytes.readableBytes >= 2, let answer = bytes.readBytes(length: 2) else { return .waitForMore }
            return self.chosen(method: answer[1])
        case .waitingForLogin:
            guard let answer = bytes.readBytes(length: 2) else { return .waitForMore }
            // "The VER field contains the current version of the subnegotiation, which is X'01'"; some proxies answer 5.
            guard answer[0] == 1 || answer[0] == 5 else { return self.fail(.proxyProtocol, "its log-in has version \(answer[0])") }
            guard answer[1] == 0 else { return self.fail(.proxyAuthentication, "it did not accept the name and the password") }
            return self.request()
        case .waitingForReply:
            return self.reply(&bytes)
        case .finished:
            return .waitForMore  // nobody is to ask any more; the bytes stay
        }
    }

    private mutating func chosen(method: UInt8) -> ProxyAction {
        switch method {
        case 0: return self.request()
        case 2:
            guard let login = self.login else { return self.fail(.proxyProtocol, "it chose a method that was not offered") }
            self.state = .waitingForLogin
            return .send(login)
        case 0xFF:
            return self.fail(.proxyAuthentication, self.login == nil ? "it wants credentials" : "it takes neither nobody nor a password")
        default: return self.fail(.proxyProtocol, "it chose a method that was not offered")
        }
    }

    private mutating func request() -> ProxyAction {
        self.state = .waitingForReply
        return .send([5, 1, 0] + self.destination)
    }

    private mutating func reply(_ bytes: inout ByteBuffer) -> ProxyAction {
        let start = bytes.readerIndex
        guard let version = bytes.getInteger(at: start, as: UInt8.self) else { return .waitForMore }
        guard version == 5 else { return self.fail(.proxyProtocol, "its version is \(version), not 5") }
        guard let code = bytes.getInteger(at: start + 1, as: UInt8.self) else { return .waitForMore }
        // A refusal is known by now; not every proxy sends the rest of it.
        guard code == 0 else { return self.fail(.proxyRefused, Self.refusal(code)) }
        guard let kind = bytes.getInteger(at: start + 3, as: UInt8.self) else { return .waitForMore }
        let addressBytes: Int
        switch kind {
        case 1: addressBytes = 4
        case 4: addressBytes = 16
        case 3:
            guard let length = bytes.getInteger(at: start + 4, as: UInt8.self) else { return .waitForMore }
            addressBytes = 1 + Int(length)
        default: return self.fail(.proxyProtocol, "it answered with an address of kind \(kind)")
        }
        guard bytes.readableBytes >= 6 + addressBytes else { return .waitForMore }
        bytes.moveReaderIndex(forwardBy: 6 + addressBytes)
        self.state = .finished
        return .connected
    }

    private static func refusal(_ code: UInt8) -> String {
        switch code {
        case 1: "it failed"
        case 2: "its rules do not allow the connection"
        case 3: "the network is unreachable"
        case 4: "the host is unreachable"
        case 5: "the server refused the connection"
        case 6: "the connection took too long"
        case 7: "it does not connect at all"
        case 8: "it does not know this kind of address"
        default: "it answered \(code)"
        }
    }

    private mutating func fail(_ code: ConnectivityError.Code, _ message: String) -> ProxyAction {
        self.state = .finished
        return .fail(ConnectivityError(code, message: "the SOCKS proxy: \(message)"))
    }
}
