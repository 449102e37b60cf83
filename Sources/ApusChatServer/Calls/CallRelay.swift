package import ApusChatProtocol
import Crypto
import Foundation

/// Provides the devices of a call with the STUN and TURN servers of the operator.
///
/// The credentials have the form of coturn's option `use-auth-secret`. The user name consists of
/// the expiry time in seconds since 1970, a colon and the account name. The password is the
/// HMAC-SHA-1 of the user name, in Base64. The TURN server verifies the credentials with the shared
/// secret and needs no accounts.
package struct CallRelay: Sendable {
    private let configuration: ChatServerConfiguration.Calls

    /// - Parameter configuration: A checked configuration.
    package init(_ configuration: ChatServerConfiguration.Calls) {
        self.configuration = configuration
    }

    /// Returns the answer to `call.servers`.
    ///
    /// - Parameter time: The current time in milliseconds since 1970, from which the expiry of the
    ///   credentials is calculated.
    package func servers(for user: UserName, at time: Int64) -> CallServersAnswer {
        let configuration = self.configuration
        let seconds = (time / 1_000).addingReportingOverflow(configuration.credentialLifetime.components.seconds).partialValue
        var servers: [CallServer] = []
        let plain = configuration.urls.filter { !Self.isTURN($0) }
        if !plain.isEmpty { servers.append(CallServer(urls: plain)) }
        let relays = configuration.urls.filter(Self.isTURN)
        if !relays.isEmpty, let secret = configuration.secret {
            let name = "\(seconds):\(user.rawValue)"
            servers.append(CallServer(urls: relays, username: name, credential: Self.password(of: name, secret)))
        }
        return CallServersAnswer(
            servers: servers, expiresAt: servers.isEmpty ? 0 : seconds * 1_000, isRelayOnly: configuration.isRelayOnly)
    }

    static func isTURN(_ url: String) -> Bool { url.hasPrefix("turn:") || url.hasPrefix("turns:") }

    static func password(of name: String, _ secret: String) -> String {
        let code = HMAC<Insecure.SHA1>.authenticationCode(for: Data(name.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return Data(code).base64EncodedString()
    }
}
