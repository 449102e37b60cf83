package import ApusJSON

/// `send`: stores a message and sends it to the members.
package struct SendRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    package var kind: EventKind
    /// The body as sent. ``ChatKinds`` validates it after the server has determined that the
    /// request is not a retry.
    package var body: JSONObject
    /// The `seq` of the message to which this message replies; nil if it is not a reply.
    package var ref: Int64?
    /// The `seq` of the message that began the thread; nil outside of threads.
    package var thread: Int64?
    /// The epoch of the group of an encrypted conversation. Reserved.
    package var ifEpoch: Int64?
    /// Whether to send without notifying the recipients. This option is not stored with the
    /// message.
    package var isSilent: Bool

    package init(
        id: ClientID, conversation: ConversationID, kind: EventKind, body: JSONObject, ref: Int64? = nil, thread: Int64? = nil,
        ifEpoch: Int64? = nil, isSilent: Bool = false
    ) {
        self.id = id
        self.conversation = conversation
        self.kind = kind
        self.body = body
        self.ref = ref
        self.thread = thread
        self.ifEpoch = ifEpoch
        self.isSilent = isSilent
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.kind = try reader.text("kind")
        self.body = try reader.free("body")
        self.ref = try reader.integerIfPresent("ref", in: 1...WireReader.largestInteger)
        self.thread = try reader.integerIfPresent("thread", in: 1...WireReader.largestInteger)
        self.ifEpoch = try reader.integerIfPresent("if_epoch")
        self.isSilent = try reader.bool("silent")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("kind", self.kind)
        writer.write("body", self.body)
        writer.write("ref", ifPresent: self.ref)
        writer.write("thread", ifPresent: self.thread)
        writer.write("if_epoch", ifPresent: self.ifEpoch)
        writer.write("silent", ifTrue: self.isSilent)
    }

    /// The version byte with which ``hashedBytes()`` begins.
    package static let hashVersion: UInt8 = 1

    /// Returns the bytes whose SHA-256 distinguishes a retry from another request with the same id.
    /// They are the version byte, and the canonical form of `{conv, kind, body, ref?, thread?,
    /// if_epoch?}` as sent.
    package func hashedBytes() throws(JSONError) -> [UInt8] {
        var writer = WireWriter()
        writer.write("conv", self.conversation)
        writer.write("kind", self.kind)
        writer.write("body", self.body)
        writer.write("ref", ifPresent: self.ref)
        writer.write("thread", ifPresent: self.thread)
        writer.write("if_epoch", ifPresent: self.ifEpoch)
        return [Self.hashVersion] + (try CanonicalJSON.bytes(of: .object(writer.object)))
    }
}

/// The answer to `send`. The server sends it after the commit. A retry receives the same answer.
package struct SendAnswer: Hashable, WireObject {
    package var conversation: ConversationID
    package var id: ClientID
    package var seq: Int64
    package var n: Int64
    /// The time at which the server stored the message, in milliseconds since 1970.
    package var at: Int64

    package init(conversation: ConversationID, id: ClientID, seq: Int64, n: Int64, at: Int64) {
        self.conversation = conversation
        self.id = id
        self.seq = seq
        self.n = n
        self.at = at
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.id = try reader.text("id")
        self.seq = try reader.integer("seq", in: WireReader.seqs)
        self.n = try reader.integer("n", in: WireReader.seqs)
        self.at = try reader.integer("at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("id", self.id)
        writer.write("seq", self.seq)
        writer.write("n", self.n)
        writer.write("at", self.at)
    }
}

/// The answer to a request that changes data and has no other result.
package struct ChangeAnswer: Hashable, WireObject {
    package var conversation: ConversationID
    package var id: ClientID
    /// The `seq` of the event that the request added to a log; nil if it added none.
    package var seq: Int64?
    package var at: Int64

    package init(conversation: ConversationID, id: ClientID, seq: Int64?, at: Int64) {
        self.conversation = conversation
        self.id = id
        self.seq = seq
        self.at = at
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.id = try reader.text("id")
        self.seq = try reader.integerIfPresent("seq", in: WireReader.seqs)
        self.at = try reader.integer("at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("id", self.id)
        writer.write("seq", ifPresent: self.seq)
        writer.write("at", self.at)
    }
}
