import ApusBytes

/// The part of a packet before its JSON.
///
/// Source: Socket.IO protocol v5, "Packet encoding":
/// `<type>[<attachments>-][<namespace>,][<ack id>][JSON]`.
struct SocketIOPacketHeader: Equatable {
    var type: SocketIOPacketType
    var attachments = 0
    var namespace = "/"
    var ackID: Int?
    /// The length of the header, where the JSON starts.
    var length = 0

    /// Parses the header at the start of a packet.
    init(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let first = bytes.first, let type = SocketIOPacketType(rawValue: first) else {
            throw SocketIOError(
                .malformedPacket, message: bytes.isEmpty ? "a packet is empty" : "a packet has the unknown type byte \(bytes[0])")
        }
        self.type = type
        self.length = 1
        if type.carriesAttachments { try self.readAttachments(bytes, limits: limits) }
        if self.length < bytes.count, bytes[self.length] == UInt8(ascii: "/") { try self.readNamespace(bytes, limits: limits) }
        if type != .connect, type != .disconnect, type != .connectError { try self.readAckID(bytes) }
    }

    private mutating func readAttachments(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let count = try Self.readDigits(bytes, &self.length), self.length < bytes.count, bytes[self.length] == UInt8(ascii: "-")
        else {
            throw SocketIOError(.malformedPacket, message: "a binary packet has no number of attachments")
        }
        guard count <= limits.maximumAttachments else {
            throw SocketIOError(
                .tooManyAttachments, message: "a packet announces \(count) attachments; the limit is \(limits.maximumAttachments)")
        }
        self.attachments = count
        self.length += 1
    }

    private mutating func readNamespace(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        let rest = bytes[self.length...]
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        let name = rest[..<end]
        guard name.count <= limits.maximumNamespaceBytes else {
            throw SocketIOError(
                .malformedPacket, message: "a namespace has \(name.count) bytes; the limit is \(limits.maximumNamespaceBytes)")
        }
        guard let namespace = String(utf8: UnsafeRawBufferPointer(rebasing: name)) else {
            throw SocketIOError(.malformedPacket, message: "a namespace is not UTF-8")
        }
        self.namespace = namespace
        self.length = end == rest.endIndex ? end : end + 1
    }

    private mutating func readAckID(_ bytes: UnsafeRawBufferPointer) throws(SocketIOError) {
        self.ackID = try Self.readDigits(bytes, &self.length)
    }

    /// Reads the number at `position`. Returns nil if there is no digit.
    private static func readDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(SocketIOError) -> Int? {
        var number: Int?
        while position < bytes.count, case let digit = bytes[position] &- 0x30, digit < 10 {
            let (product, overflowed) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflowedAgain) = product.addingReportingOverflow(Int(digit))
            guard !overflowed, !overflowedAgain else {
                throw SocketIOError(.malformedPacket, message: "a number in a packet header exceeds 63 bits")
            }
            number = sum
            position += 1
        }
        return number
    }
}
