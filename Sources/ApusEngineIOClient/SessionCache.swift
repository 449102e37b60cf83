import ApusBytes
import ApusConnectivity
package import ApusEngineIOProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a client keeps from one session to the next. One for each manager; confined to its event loop.
package final class SessionCache {
    /// Whether the last session that could was carried by a WebSocket, and in which version.
    var webSocketVersion: EngineIOVersion?
    /// The version that was recognized by what it said over a WebSocket in another version.
    package var recognizedVersion: EngineIOVersion?
    private var jar: EngineIOCookieJar?

    package init() {}

    /// Takes the cookies of an answer.
    func received(setCookies: [String], from address: EngineIOClientAddress, target: String) {
        guard !setCookies.isEmpty else { return }
        var jar = self.jar.take() ?? EngineIOCookieJar(host: address.origin.host)
        for field in setCookies { jar.received(field, target: target, now: Self.now) }
        self.jar = jar
    }

    /// The value of `Cookie` for a request.
    ///
    /// - Parameter given: Those of the configuration; the server's word comes before them.
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
