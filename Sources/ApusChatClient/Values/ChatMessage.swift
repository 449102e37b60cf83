public import ApusChatProtocol
import ApusJSON

/// The way of an own message to its readers.
public enum DeliveryState: Hashable, Sendable {
    /// Stored here, and sent when there is a connection and the messages before it are sent.
    case queued
    /// Its file is being uploaded.
    case uploading
    /// Sent, without an answer.
    case sending
    /// The server has stored it.
    case sent
    /// A device of every recipient has received it.
    case delivered
    /// Every recipient has read it.
    case read
    /// The server refused it. Send it again, or discard it.
    case failed(ChatError)
}

/// How many of the other members have received and read an own message.
public struct MessageReceipts: Hashable, Sendable {
    /// The number of other members.
    public var members: Int64
    /// The number of those that have received the message on a device, or have read it.
    public var delivered: Int64
    /// The number of those that have read the message.
    public var read: Int64

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - members: The number of other members.
    ///   - delivered: The number of those that have received the message.
    ///   - read: The number of those that have read it.
    public init(members: Int64, delivered: Int64, read: Int64) {
        self.members = members
        self.delivered = delivered
        self.read = read
    }

    /// The state that all other members have reached.
    var state: DeliveryState {
        guard self.members > 0, self.delivered >= self.members else { return .sent }
        return self.read >= self.members ? .read : .delivered
    }
}

/// A row of a thread: a message, or a change that is shown as a line, such as a new member.
public struct ChatMessage: Identifiable, Hashable, Sendable {
    /// Identifies a row, also while a message of the own user becomes an event of the log.
    public enum ID: Hashable, Sendable {
        /// An own message.
        case own(ClientID)
        /// Another event, by its place in the log.
        case event(Int64)
    }

    /// The event. For an unsent message `seq` is 0 and `n` is nil.
    public var event: ChatEvent
    /// The way of an own message; nil for events of others and for changes.
    public var delivery: DeliveryState?
    /// The reactions of the own user.
    public var ownReactions: [String]
    /// The votes of the own user.
    public var ownVotes: [Int64]
    /// The numbers of members that received and read an own message, where these are told.
    public var receipts: MessageReceipts?
    /// The uploaded part of the file, from 0 to 1; nil if no file is being uploaded.
    public var progress: Double?

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - delivery: The way of an own message.
    ///   - ownReactions: The reactions of the own user.
    ///   - ownVotes: The votes of the own user.
    ///   - receipts: The numbers of members that received and read it.
    ///   - progress: The uploaded part of the file.
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

    /// The identity of the row.
    public var id: ID {
        if self.delivery != nil, let id = self.event.id { return .own(id) }
        return .event(self.event.seq)
    }
    /// The conversation.
    public var conversation: ConversationID { self.event.conversation }
    /// The place in the log; nil for an unsent message.
    public var seq: Int64? { self.event.seq > 0 ? self.event.seq : nil }
    /// Whether the own user sent it.
    public var isOwn: Bool { self.delivery != nil }
    /// The body; nil for a change, for a removed message and for an unknown kind.
    public var body: ChatBody? { ChatBody(self.event) }
    /// The change; nil for a message.
    public var change: ChatChange? { ChatChange(self.event) }
    /// The text or caption.
    public var text: String? { self.event.body["text"]?.stringValue }
    /// Whether a client of this version cannot show the message: "update to see this".
    public var needsUpdate: Bool { !self.event.kind.isKnown }
}

/// A row of a thread, or a hole in it.
public enum ThreadItem: Hashable, Sendable {
    /// A row.
    case message(ChatMessage)
    /// Events that this client has not loaded.
    case gap(ClosedRange<Int64>)
}

/// A message that a search found.
public struct ChatSearchHit: Identifiable, Hashable, Sendable {
    /// The message.
    public var message: ChatMessage
    /// The part of the text around the first word found.
    public var snippet: String
    /// The words found, as ranges of the snippet in Unicode scalars.
    public var ranges: [TextRange]

    /// Creates a hit.
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

    /// The hits of a server, and stored ones that its index does not have yet, newest first.
    static func merged(_ found: [ChatSearchHit], stored: [ChatSearchHit]) -> [ChatSearchHit] {
        let known = Set(found.map(\.id))
        return (found + stored.filter { !known.contains($0.id) }).sorted { $0.message.event.at > $1.message.event.at }
    }

    /// The identity of the hit.
    public var id: String { "\(self.message.conversation)/\(self.message.event.seq)" }
}
