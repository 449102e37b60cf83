public import ApusChatProtocol
import ApusJSON

/// The delivery state of a message of the user.
public enum DeliveryState: Hashable, Sendable {
    /// The message is stored on this device. It is sent when there is a connection and earlier
    /// messages are sent.
    case queued
    /// The file of the message is being uploaded.
    case uploading
    /// The message was sent to the server, which has not answered yet.
    case sending
    /// The server has stored the message.
    case sent
    /// A device of every recipient has received the message.
    case delivered
    /// Every recipient has read the message.
    case read
    /// The server refused the message. The user can send it again or discard it.
    case failed(ChatError)
}

/// The numbers of members who have received and read a message of the user.
public struct MessageReceipts: Hashable, Sendable {
    /// The number of members other than the sender.
    public var members: Int64
    /// The number of these members who have received the message on a device, or have read it.
    public var delivered: Int64
    /// The number of these members who have read the message.
    public var read: Int64

    /// Creates the receipts of a message.
    ///
    /// - Parameters:
    ///   - members: The number of members other than the sender.
    ///   - delivered: The number of these members who have received the message.
    ///   - read: The number of these members who have read the message.
    public init(members: Int64, delivered: Int64, read: Int64) {
        self.members = members
        self.delivered = delivered
        self.read = read
    }

    /// The delivery state that all other members have reached.
    var state: DeliveryState {
        guard self.members > 0, self.delivered >= self.members else { return .sent }
        return self.read >= self.members ? .read : .delivered
    }
}

/// A row of a conversation: a message, or a change that is shown as a line, such as a new member.
public struct ChatMessage: Identifiable, Hashable, Sendable {
    /// The identity of a row. It does not change when an unsent message is added to the log.
    public enum ID: Hashable, Sendable {
        /// A message of the user, identified by the id that the client chose.
        case own(ClientID)
        /// Another event, identified by its position in the log.
        case event(Int64)
    }

    /// The event. The event of an unsent message has `seq` 0 and no `n`.
    public var event: ChatEvent
    /// The delivery state of a message of the user; nil for messages of other users and for
    /// changes.
    public var delivery: DeliveryState?
    /// The user's reactions to the message.
    public var ownReactions: [String]
    /// The user's votes in a poll: the indices of the options.
    public var ownVotes: [Int64]
    /// The receipts of a message of the user, in conversations that report them; nil for all other
    /// rows.
    public var receipts: MessageReceipts?
    /// The uploaded part of the file, from 0 to 1; nil if no upload is running.
    public var progress: Double?

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - delivery: The delivery state of a message of the user.
    ///   - ownReactions: The user's reactions.
    ///   - ownVotes: The user's votes in a poll.
    ///   - receipts: The receipts of a message of the user.
    ///   - progress: The uploaded part of the file, from 0 to 1.
    public init(
        event: ChatEvent, delivery: DeliveryState? = nil, ownReactions: [String] = [], ownVotes: [Int64] = [],
        receipts: MessageReceipts? = nil, progress: Double? = nil
    ) {
        self.event = event
        self.delivery = delivery
        self.ownReactions = ownReactions
        self.ownVotes = ownVotes
        self.receipts = receipts
        self.progress = progress
    }

    /// The identity of the row, for a list.
    public var id: ID {
        if self.delivery != nil, let id = self.event.id { return .own(id) }
        return .event(self.event.seq)
    }
    /// The conversation.
    public var conversation: ConversationID { self.event.conversation }
    /// The position in the log; nil for an unsent message.
    public var seq: Int64? { self.event.seq > 0 ? self.event.seq : nil }
    /// Whether the row is a message of the user.
    public var isOwn: Bool { self.delivery != nil }
    /// The body of the message; nil for a change, for a removed message and for an unknown kind.
    public var body: ChatBody? { ChatBody(self.event) }
    /// The body of the change; nil for a message.
    public var change: ChatChange? { ChatChange(self.event) }
    /// The text, or the caption of a file; nil if absent.
    public var text: String? { self.event.body["text"]?.stringValue }
    /// Whether this version of the client cannot show the message. An application should then ask
    /// the user to update it.
    public var needsUpdate: Bool { !self.event.kind.isKnown }
}

/// A row of a conversation, or a gap between rows.
public enum ThreadItem: Hashable, Sendable {
    /// A message or a change.
    case message(ChatMessage)
    /// The positions of events that are not loaded.
    case gap(ClosedRange<Int64>)
}

/// A message that a search found.
public struct ChatSearchHit: Identifiable, Hashable, Sendable {
    /// The message that contains the words.
    public var message: ChatMessage
    /// The part of the text around the first word found.
    public var snippet: String
    /// The words found, as ranges of the snippet in Unicode scalars.
    public var ranges: [TextRange]

    /// Creates a search hit.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - snippet: The part of the text around the first word found.
    ///   - ranges: The words found, as ranges of the snippet.
    public init(message: ChatMessage, snippet: String, ranges: [TextRange] = []) {
        self.message = message
        self.snippet = snippet
        self.ranges = ranges
    }

    /// Merges the hits of the server with stored hits that the server's index does not contain yet,
    /// newest first.
    static func merged(_ found: [ChatSearchHit], stored: [ChatSearchHit]) -> [ChatSearchHit] {
        let known = Set(found.map(\.id))
        return (found + stored.filter { !known.contains($0.id) }).sorted { $0.message.event.at > $1.message.event.at }
    }

    /// The conversation and the position of the message, as one text.
    public var id: String { "\(self.message.conversation)/\(self.message.event.seq)" }
}
