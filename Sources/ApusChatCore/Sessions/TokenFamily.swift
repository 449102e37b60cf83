/// The refresh tokens of one signed-in device: each use makes the next one, and the use of an old
/// one ends the session.
///
/// A token is a family, a generation and a proof that the shell checks (an HMAC over both), so that
/// the successor of a token can be made again and no token is stored. A client that lost the answer
/// presents the same token again: it gets the same successor until that is used, for a minute at
/// most. Any other use of an old token means that two parties hold the family's tokens.
package struct TokenFamily: Sendable, Equatable {
    /// The time for which a lost answer is repeated, in milliseconds.
    package static let repetition: Int64 = 60_000

    /// The generation of the newest token.
    package private(set) var generation: Int64
    /// Whether the newest token, or an access token made with it, was used.
    package private(set) var isConfirmed: Bool
    /// When the newest token was made.
    package private(set) var rotatedAt: Int64
    package private(set) var isRevoked: Bool
    /// The time without a use after which the family ends, in milliseconds.
    package let lifetime: Int64

    /// Starts a family with generation 1.
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
        /// The family was used by two parties: store it, and close the sessions of the device.
        case revoke
        /// Answer `unauthorized`.
        case refuse
    }

    /// Takes a refresh token whose proof is right.
    ///
    /// - Parameter isClockTrusted: False after a leap of the clock, when no age is believed.
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

    /// Notes the use of an access token of a generation.
    ///
    /// - Returns: Whether the family changed and has to be stored.
    package mutating func accessTokenUsed(generation: Int64) -> Bool {
        guard generation == self.generation, !self.isConfirmed else { return false }
        self.isConfirmed = true
        return true
    }

    package mutating func revoke() { self.isRevoked = true }
}
