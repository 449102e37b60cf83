import ApusWebSocketProtocol
import Foundation
import NIOCore

/// Encodes the messages of a load, and recognizes their answers.
struct BenchMessages: Sendable {
    /// The meaning of a server's message.
    enum Meaning: Equatable {
        /// The answer to the oldest message, or a delivery of a broadcast.
        case answer
        /// The answer to the message in this slot.
        case answerTo(Int)
        /// An Engine.IO ping.
        case ping
        /// The Engine.IO handshake.
        case open
        /// The namespace was joined.
        case joined
        /// The namespace was refused.
        case refused
        /// An answer that the next binary message completes, with the slot of the answered message.
        case attachmentFollows(Int?)
        case nothing
    }

    /// The masking key of every frame. A constant is sufficient: the load is not secret, and a
    /// server unmasks with any key.
    private static let maskingKey = WebSocketMaskingKey(word: 0x3d21_fa37)
    /// The maximum number of copies of a frame in a batch. Parts of a batch are sent without
    /// copying.
    static let batchCount = 64

    private let plan: BenchPlan
    // A separate property, so that reading it for each message does not copy the plan.
    let isSocketIO: Bool
    /// Whether each slot has its own message.
    let isNumbered: Bool
    /// The first bytes of an event that answers a message.
    private let eventStart: [UInt8]
    private let namespacePrefix: String
    private let index: Int

    /// - Parameter index: The number of the connection among all connections of the load.
    init(plan: BenchPlan, index: Int = 0) {
        self.plan = plan
        self.isSocketIO = plan.isSocketIO
        self.isNumbered = if case .acknowledged = plan.exchange { true } else { false }
        self.index = index
        self.namespacePrefix =
            plan.namespaces > 0 ? "/bench-\(index % plan.namespaces)," : plan.namespace == "/" ? "" : plan.namespace + ","
        let name: String =
            switch plan.exchange {
            case .webSocket: ""
            case .event(let name), .acknowledged(let name), .broadcast(let name): name
            case .room: "room"
            }
        self.eventStart = Array("\(self.namespacePrefix)[\"\(name)\"".utf8)
    }

    // MARK: Sending

    /// Returns the Engine.IO text and binary messages for a slot.
    func packets(place: Int) -> (text: String, attachment: [UInt8]?) {
        let payload = String(repeating: "x", count: self.plan.size)
        let bytes = self.plan.binary ? Array(repeating: UInt8(ascii: "x"), count: self.plan.size) : nil
        let argument = self.plan.binary ? #"{"_placeholder":true,"num":0}"# : "\"\(payload)\""
        let kind = self.plan.binary ? "451-" : "42"
        switch self.plan.exchange {
        case .webSocket: return (payload, bytes)
        case .event(let name), .broadcast(let name): return ("\(kind)\(self.namespacePrefix)[\"\(name)\",\(argument)]", bytes)
        case .room: return ("\(kind)\(self.namespacePrefix)[\"room\",\"bench-\(self.index)\",\(argument)]", bytes)
        case .acknowledged(let name): return ("\(kind)\(self.namespacePrefix)\(place)[\"\(name)\",\(argument)]", bytes)
        }
    }

    /// Returns the frames of the message for a slot.
    func frames(place: Int) -> ByteBuffer {
        let (text, attachment) = self.packets(place: place)
        var buffer = ByteBuffer()
        if self.plan.isSocketIO || attachment == nil { Self.write(.text, ByteBuffer(string: text), into: &buffer) }
        if let attachment { Self.write(.binary, ByteBuffer(bytes: attachment), into: &buffer) }
        return buffer
    }

    /// Returns a polling payload for each slot, or a single one if the messages of all slots are
    /// equal. Binary data is `b` and base64 (Engine.IO protocol v4, "Packet encoding").
    func pollingPackets(inFlight: Int) -> [String] {
        (0..<(self.isNumbered ? max(inFlight, 1) : 1)).map { place in
            let (text, attachment) = self.packets(place: place)
            guard let attachment else { return text }
            return "\(text)\u{1e}b\(Data(attachment).base64EncodedString())"
        }
    }

    /// The packet that joins the namespace.
    var join: String { "40\(self.namespacePrefix)\(self.plan.auth)" }

    /// The packets that join this connection's share of the rooms.
    var roomJoins: [String] {
        guard case .room(let count) = self.plan.exchange else { return [] }
        return stride(from: self.index, to: max(count, self.index + 1), by: self.plan.connections).map {
            "42\(self.namespacePrefix)[\"join\",\"bench-\($0)\"]"
        }
    }

    /// Writes a masked frame.
    static func write(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, into buffer: inout ByteBuffer) {
        WebSocketFrameEncoder.write(WebSocketFrame(opcode: opcode, payload: payload), maskingKey: self.maskingKey, into: &buffer)
    }

    static func frame(_ text: String) -> ByteBuffer {
        var buffer = ByteBuffer()
        self.write(.text, ByteBuffer(string: text), into: &buffer)
        return buffer
    }

    // MARK: Receiving

    /// Returns the meaning of a text message, from its first bytes.
    func meaning(ofText bytes: UnsafeRawBufferPointer) -> Meaning {
        guard self.isSocketIO else { return .answer }
        guard let kind = bytes.first else { return .nothing }
        switch kind {
        case UInt8(ascii: "0"): return .open
        case UInt8(ascii: "2"): return .ping
        case UInt8(ascii: "4"): break
        default: return .nothing
        }
        guard bytes.count > 1 else { return .nothing }
        switch bytes[1] {
        case UInt8(ascii: "0"): return self.startsWithNamespace(bytes, at: 2) ? .joined : .nothing
        case UInt8(ascii: "4"): return .refused
        case UInt8(ascii: "2"): return Self.starts(bytes, at: 2, with: self.eventStart) && !self.isNumbered ? .answer : .nothing
        case UInt8(ascii: "3"): return self.place(in: bytes, at: 2).map { .answerTo($0) } ?? .nothing
        case UInt8(ascii: "5"):
            guard let dash = bytes.prefix(8).firstIndex(of: UInt8(ascii: "-")) else { return .nothing }
            return Self.starts(bytes, at: dash + 1, with: self.eventStart) ? .attachmentFollows(nil) : .nothing
        case UInt8(ascii: "6"):
            guard let dash = bytes.prefix(8).firstIndex(of: UInt8(ascii: "-")) else { return .nothing }
            return self.place(in: bytes, at: dash + 1).map { .attachmentFollows($0) } ?? .nothing
        default: return .nothing
        }
    }

    private func startsWithNamespace(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
        self.namespacePrefix.isEmpty || Self.starts(bytes, at: start, with: Array(self.namespacePrefix.utf8))
    }

    private static func starts(_ bytes: UnsafeRawBufferPointer, at start: Int, with expected: [UInt8]) -> Bool {
        guard bytes.count >= start + expected.count else { return false }
        for index in expected.indices where bytes[start + index] != expected[index] { return false }
        return true
    }

    /// Returns the ID of an ack. The ID follows the namespace.
    private func place(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
        var index = start
        if !self.namespacePrefix.isEmpty { index += self.namespacePrefix.utf8.count }
        var number = 0
        var digits = 0
        while index < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[index], digits < 9 {
            number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            index += 1
            digits += 1
        }
        return digits > 0 ? number : nil
    }
}
