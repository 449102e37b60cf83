/// The refresh tokens of one signed-in device. Each use of the newest token creates the next one.
/// The use of an old token ends the session, because it indicates that two parties have the tokens.
///
/// A token consists of a family, a generation and a proof that the shell verifies (an HMAC of
/// both). Therefore, the server can create the same token again and does not store tokens. A client
/// that did not receive an answer sends the same token again. It receives the same successor until
/// the successor is used, for at most a minute.
package struct TokenFamily: Sendable, Equatable {
    /// The time for which the same successor is returned again, in milliseconds.
    package static let repetition: Int64 = 60_000

    /// The generation of the newest token.
    package private(set) var generation: Int64
    /// Whether an access token of the newest generation was used, so that the previous refresh
    /// token is no longer accepted. True for a new family.
    package private(set) var isConfirmed: Bool
    /// The time at which the newest token was created, in milliseconds since 1970.
    package private(set) var rotatedAt: Int64
    package private(set) var isRevoked: Bool
    /// The time after which an unused family expires, in milliseconds.
    package let lifetime: Int64

    /// Creates a family with generation 1.
    package init(at time: Int64, lifetime: Int64 = 30 * 86_400_000) {
        self.generation = 1
        self.isConfirmed = true
        self.rotatedAt = time
        self.isRevoked = false
        self.lifetime = lifetime
    }

    /// Restores a family from a stored row.
    package init(generation: Int64, isConfirmed: Bool, rotatedAt: Int64, isRevoked: Bool, lifetime: Int64) {
        self.generation = generation
        self.isConfirmed = isConfirmed
        self.rotatedAt = rotatedAt
        self.isRevoked = isRevoked
        self.lifetime = lifetime
    }

    package enum RefreshAction: Sendable, Equatable {
        /// Store the family, then return tokens of this generation.
        case rotate(generation: Int64)
        /// Return tokens of this generation again. Nothing changed.
        case repeatAnswer(generation: Int64)
        /// Two parties used the family. Store it, and close the connections of the device.
        case revoke
        /// Answer `unauthorized`.
        case refuse
    }

    /// Handles a refresh token with a valid proof.
    ///
    /// - Parameter isClockTrusted: False after a jump of the clock, when ages must not be
    ///   evaluated.
    package mutating func refresh(generation: Int64, at time: Int64, isClockTrusted: Bool = true) -> RefreshAction {
        guard !self.isRevoked, generation >= 1, generation <= self.generation else { return .refuse }
        if isClockTrusted, time.elapsed(since: self.rotatedAt) > self.lifetime { return .refuse }
        if generation == self.generation {
            self.generation += 1
            self.isConfirmed = false
            self.rotatedAt = time
            return .rotate(generation: self.generation)
        }
        if generation == self.generation - 1, !self.isConfirmed, time.elapsed(since: self.rotatedAt) <= Self.repetition {
            return .repeatAnswer(generation: self.generation)
        }
        self.isRevoked = true
        return .revoke
    }

    /// Records the use of an access token of a generation.
    ///
    /// - Returns: Whether the family changed and must be stored.
    package mutating func accessTokenUsed(generation: Int64) -> Bool {
        guard generation == self.generation, !self.isConfirmed else { return false }
        self.isConfirmed = true
        return true
    }

    package mutating func revoke() { self.isRevoked = true }
}
