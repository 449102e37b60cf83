import ApusBytes

/// What stands before the JSON of a packet.
///
/// Source: Socket.IO protocol v5, "Packet encoding": `<type>[<attachments>-][<namespace>,][<ack id>][JSON]`.
struct SocketIOPacketHeader: Equatable {
    var type: SocketIOPacketType
    var attachments = 0
    var namespace = "/"
    var ackID: Int?
    /// Where the JSON starts.
    var length = 0

    /// Reads the header off the front of a packet.
    init(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let first = bytes.first, let type = SocketIOPacketType(rawValue: first) else {
            throw SocketIOError(
                .malformedPacket, message: bytes.isEmpty ? "a packet of no bytes" : "a packet of the unknown type byte \(bytes[0])")
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
            throw SocketIOError(.malformedPacket, message: "a binary packet without its number of attachments")
        }
        guard count <= limits.maximumAttachments else {
            throw SocketIOError(.tooManyAttachments, message: "\(count) attachments announced, \(limits.maximumAttachments) allowed")
        }
        self.attachments = count
        self.length += 1
    }

    private mutating func readNamespace(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        let rest = bytes[self.length...]
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        let name = rest[..<end]
        guard name.count <= limits.maximumNamespaceBytes else {
            throw SocketIOError(.malformedPacket, message: "a namespace of \(name.count) bytes, \(limits.maximumNamespaceBytes) allowed")
        }
        guard let namespace = String(utf8: UnsafeRawBufferPointer(rebasing: name)) else {
            throw SocketIOError(.malformedPacket, message: "a namespace that is not UTF-8")
        }
        self.namespace = namespace
        self.length = end == rest.endIndex ? end : end + 1
    }

    private mutating func readAckID(_ bytes: UnsafeRawBufferPointer) throws(SocketIOError) {
        self.ackID = try Self.readDigits(bytes, &self.length)
    }

    /// The number at `position`, nil when no digit stands there.
    private static func readDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(SocketIOError) -> Int? {
        var number: Int?
        while position < bytes.count, case let digit = bytes[position] &- 0x30, digit < 10 {
            let (product, overflowed) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflowedAgain) = product.addingReportingOverflow(Int(digit))
            guard !overflowed, !overflowedAgain else {
                throw SocketIOError(.malformedPacket, message: "a number of more than 63 bits in a packet's header")
            }
            number = sum
            position += 1
        }
        return number
    }
}
