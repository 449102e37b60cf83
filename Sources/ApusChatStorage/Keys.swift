/// The integer that identifies a user inside the server. On the wire, a user is a `UserName`.
@usableFromInline
package struct UserKey: Hashable, Sendable, Comparable {
    @usableFromInline package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    @inlinable package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The integer that identifies a conversation inside the server. It is random and not negative. On
/// the wire, a conversation is a `ConversationID`, which encodes the same 63 bits.
package struct ConversationKey: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The integer that identifies a device of a user inside the server.
package struct DeviceKey: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A user in a conversation: the key of a member row.
package struct MemberAddress: Hashable, Sendable {
    package let conversation: ConversationKey
    package let user: UserKey
    package init(_ conversation: ConversationKey, _ user: UserKey) {
        self.conversation = conversation
        self.user = user
    }
}

/// An event of a conversation: the key of an event row.
package struct EventAddress: Hashable, Sendable {
    package let conversation: ConversationKey
    package let seq: Int64
    package init(_ conversation: ConversationKey, _ seq: Int64) {
        self.conversation = conversation
        self.seq = seq
    }
}

/// An event and a user who annotated it: the key of an annotation row.
package struct AnnotationAddress: Hashable, Sendable {
    package let event: EventAddress
    package let user: UserKey
    package init(_ event: EventAddress, _ user: UserKey) {
        self.event = event
        self.user = user
    }
}

/// Two users in key order: the key of a pair conversation.
package struct PairAddress: Hashable, Sendable {
    package let low: UserKey
    package let high: UserKey
    package init(_ one: UserKey, _ other: UserKey) {
        self.low = min(one, other)
        self.high = max(one, other)
    }
}

/// A user and another user to whom the first user has a relation: the key of a contact row.
package struct ContactAddress: Hashable, Sendable {
    package let owner: UserKey
    package let peer: UserKey
    package init(owner: UserKey, peer: UserKey) {
        self.owner = owner
        self.peer = peer
    }
    /// The address of the relation in the opposite direction.
    package var reversed: Self { Self(owner: self.peer, peer: self.owner) }
}
