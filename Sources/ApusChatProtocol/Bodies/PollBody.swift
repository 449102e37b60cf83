/// The body of a `poll`.
public struct PollBody: Hashable, Sendable {
    /// The question.
    public var question: String
    /// The options, at least 2.
    public var options: [String]
    /// Whether a user can vote for several options.
    public var allowsMultiple: Bool
    /// Whether votes are counted without revealing the voters.
    public var isAnonymous: Bool
    /// The time at which the poll ends, in milliseconds since 1970; nil if it has no end.
    public var closesAt: Int64?
    /// Whether the poll has ended. Set by the server.
    public var isClosed: Bool
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - options: The options, at least 2.
    ///   - allowsMultiple: Whether a user can vote for several options.
    ///   - isAnonymous: Whether votes are counted without revealing the voters.
    ///   - closesAt: The time at which the poll ends, in milliseconds since 1970; nil if it has no
    ///     end.
    ///   - isClosed: Whether the poll has ended. Set by the server.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(
        question: String, options: [String], allowsMultiple: Bool = false, isAnonymous: Bool = false, closesAt: Int64? = nil,
        isClosed: Bool = false, forwarded: ForwardedFrom? = nil
    ) {
        self.question = question
        self.options = options
        self.allowsMultiple = allowsMultiple
        self.isAnonymous = isAnonymous
        self.closesAt = closesAt
        self.isClosed = isClosed
        self.forwarded = forwarded
    }
}

extension PollBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.question = try reader.string("question", minimum: 1, maximum: ChatLimits.questionLength)
        self.options = try reader.strings("options", length: ChatLimits.optionLength, maximum: ChatLimits.pollOptions)
        self.allowsMultiple = try reader.bool("multiple")
        self.isAnonymous = try reader.bool("anonymous")
        self.closesAt = try reader.integerIfPresent("closes_at")
        self.isClosed = try reader.bool("closed")
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("question", self.question)
        writer.write("options", all: self.options)
        writer.write("multiple", ifTrue: self.allowsMultiple)
        writer.write("anonymous", ifTrue: self.isAnonymous)
        writer.write("closes_at", ifPresent: self.closesAt)
        writer.write("closed", ifTrue: self.isClosed)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension PollBody: MessageBody {
    package static var kind: EventKind { .poll }
    package var label: String? { self.question }
    package var searchText: String? { ([self.question] + self.options).joined(separator: "\n") }

    package func validate() throws(WireError) {
        guard self.options.count >= 2 else { throw WireError(.invalid, field: "options", rule: "must have at least 2 elements") }
        guard Set(self.options).count == self.options.count else {
            throw WireError(.invalid, field: "options", rule: "must not repeat an option")
        }
    }

    package mutating func removeServerFields() {
        self.isClosed = false
        self.forwarded = nil
    }
}
