/// The body of an `encrypted` message (RFC 9420). Reserved: servers of this version refuse it.
public struct EncryptedBody: Hashable, Sendable {
    /// The epoch of the group.
    public var epoch: Int64
    /// The MLSMessage in base64url (RFC 4648 section 5).
    public var data: String

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - epoch: The epoch of the group.
    ///   - data: The MLSMessage in base64url (RFC 4648 section 5).
    public init(epoch: Int64, data: String) {
        self.epoch = epoch
        self.data = data
    }
}

extension EncryptedBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.epoch = try reader.integer("epoch")
        self.data = try reader.string("data", minimum: 1, maximum: ChatLimits.customBytes)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("epoch", self.epoch)
        writer.write("data", self.data)
    }
}

extension EncryptedBody: MessageBody {
    package static var kind: EventKind { .encrypted }
}
