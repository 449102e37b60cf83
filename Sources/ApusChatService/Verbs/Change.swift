import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Crypto

/// A changing request: how its commands are made, and how the answer of the last one is worded.
struct Change: Sendable {
    enum Answer: Sendable {
        case place(@Sendable (StoredAnswer) -> JSONValue)
        /// Read after the commit.
        case reading(@Sendable (StoredAnswer, ReadContext) throws -> JSONValue)
    }

    /// The users whose keys the commands need.
    var names: [UserName] = []
    /// Whether the commands need more than keys.
    var needsReads = false
    /// What the hub is told before the commands are submitted.
    var tell: (@Sendable (Hub) -> Void)?
    /// Makes the commands, with a context if `needsReads`.
    var commands: @Sendable ([UserKey?], ReadContext?) throws -> [Command]
    var answer: Answer
}

extension ChatVerb where Request: ChangingRequest {
    func identity(of request: Request) throws -> RequestIdentity {
        try RequestIdentity(id: request.id, hashing: try self.hashedBytes(of: request))
    }
}

extension RequestIdentity {
    init(id: ClientID, hashing bytes: [UInt8]) throws {
        guard let hash = SHA256.hash(data: bytes).withUnsafeBytes({ RequestHash(bytes: $0) }) else {
            throw ChatError(.internal, message: "The request has no hash.")
        }
        self.init(id: id, hash: hash)
    }
}

extension ChangeAnswer {
    init(_ stored: StoredAnswer, id: ClientID) {
        self.init(conversation: ConversationID(stored.conversation), id: id, seq: stored.seq > 0 ? stored.seq : nil, at: stored.at)
    }
}
