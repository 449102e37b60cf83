import ApusBytes
import ApusConnectivity
package import ApusEngineIOProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state that a manager keeps between sessions. Confined to its event loop.
package final class SessionCache {
    /// The transport and version of the last session that was upgraded, or began on a transport to
    /// which sessions upgrade; `nil` if this transport has failed since then.
    var lastUpgrade: (transport: EngineIOTransport, version: EngineIOVersion)?
    /// The server's version, if a packet over a WebSocket showed that it differs from the requested
    /// one.
    package var recognizedVersion: EngineIOVersion?
    private var jar: EngineIOCookieJar?

    package init() {}

    /// Stores the cookies of a response.
    func received(setCookies: [String], from address: EngineIOClientAddress, target: String) {
        guard !setCookies.isEmpty else { return }
        var jar = self.jar.take() ?? EngineIOCookieJar(host: address.origin.host)
        for field in setCookies { jar.receivedSetCookie(field, target: target, now: Self.now) }
        self.jar = jar
    }

    /// Returns the value of `Cookie` for a request.
    ///
    /// - Parameters:
    ///   - given: The cookies of the configuration. A cookie of the same name set by the server
    ///     replaces a cookie of the configuration.
    ///   - field: The `Cookie` field of the configuration, placed before the other cookies.
    func cookies(for address: EngineIOClientAddress, target: String, given: [String: String], field: String?) -> String? {
        let kept = self.jar?.cookies(target: target, isSecure: address.origin.isSecure, now: Self.now) ?? []
        let fixed = given.filter { name, _ in !kept.contains { $0.name.hasSameBytes(as: name) } }.sorted { $0.key < $1.key }
        let pairs = fixed.map { "\($0.key)=\($0.value)" } + kept.map { "\($0.name)=\($0.value)" }
        let all = (field.map { [$0] } ?? []) + pairs
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    private static var now: Int { Int(clamping: Int64(Date().timeIntervalSince1970)) }
}

@available(*, unavailable)
extension SessionCache: Sendable {}
