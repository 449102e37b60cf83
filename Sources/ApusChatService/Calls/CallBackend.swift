import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage

/// A media server (SFU) of the operator, which transports the media of calls of groups that are too
/// large for direct connections between devices.
///
/// The clients join a room of the media server with its client library. The chat server creates the
/// room, makes the tokens, and deletes the room at the end of the call.
package protocol CallBackend: Sendable {
    /// The name of the kind of media server in the protocol, such as `livekit`.
    var kind: String { get }
    /// Returns the address and the token with which a device joins the room.
    ///
    /// - Parameter name: The name that other participants see.
    func access(to room: CallRoom, for user: UserName, named name: String, on device: DeviceID) throws(ChatError) -> CallAccess
    /// Creates the room.
    func open(_ room: CallRoom) async throws
    /// Deletes the room. Does nothing if it does not exist.
    func close(_ room: CallRoom) async throws
    /// Returns the number of participants; 0 if the room does not exist.
    func participants(of room: CallRoom) async throws -> Int
}

/// The room of a call on a media server.
package struct CallRoom: Hashable, Sendable {
    /// The name, which consists of the conversation and the `seq` of the call.
    package let name: String

    package init(conversation: ConversationID, call: Int64) { self.name = "\(conversation)-\(call)" }
    init(_ call: EventAddress) { self.init(conversation: ConversationID(call.conversation), call: call.seq) }
}
