import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Crypto

/// A request that changes data: the commands that it causes, and the way in which its answer is
/// created.
struct Change: Sendable {
    enum Answer: Sendable {
        case place(@Sendable (StoredAnswer) -> JSONValue)
        /// The answer is read from the storage after the commit.
        case reading(@Sendable (StoredAnswer, ReadContext) throws -> JSONValue)
    }

    /// The users whose keys the commands need.
    var names: [UserName] = []
    /// Whether the creation of the commands requires a read of data other than the keys.
    var needsReads = false
    /// Notifies the hub before the commands are submitted; nil if the hub needs no notification.
    var tell: (@Sendable (Hub) -> Void)?
    /// Creates the commands. The context is present if `needsReads` is true; otherwise it can be
    /// nil.
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
            throw ChatError(.internal, message: "The server cannot compute the hash of the request.")
        }
        self.init(id: id, hash: hash)
    }
}

extension ChangeAnswer {
    init(_ stored: StoredAnswer, id: ClientID) {
        self.init(conversation: ConversationID(stored.conversation), id: id, seq: stored.seq > 0 ? stored.seq : nil, at: stored.at)
    }
}
