import Crypto

/// The sessions of the admin page, which replace the password in later logins.
///
/// Callers pass the time. The ids are stored as hashes, so that the time of a lookup reveals
/// nothing about them.
package struct SocketIOAdminSessions {
    private let lifetime: Duration
    private let maximum: Int
    private var endBySession: [SHA256.Digest: Duration] = [:]

    package init(lifetime: Duration, maximum: Int = 1_000) {
        self.lifetime = lifetime
        self.maximum = maximum
    }

    package var count: Int { self.endBySession.count }

    package mutating func save(_ id: String, at now: Duration) {
        self.endBySession = self.endBySession.filter { $0.value > now }
        if self.endBySession.count >= self.maximum, let oldest = self.endBySession.min(by: { $0.value < $1.value })?.key {
            self.endBySession[oldest] = nil
        }
        self.endBySession[Self.key(id)] = now + self.lifetime
    }

    package func contains(_ id: String, at now: Duration) -> Bool { self.endBySession[Self.key(id)].map { $0 > now } ?? false }

    private static func key(_ id: String) -> SHA256.Digest { SHA256.hash(data: Array(id.utf8)) }
}
