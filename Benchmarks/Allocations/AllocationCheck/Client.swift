import ApusWebSocketProtocol
import Foundation
import NIOCore

/// A client with a blocking socket that does not allocate during a measurement.
final class Client {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32
    /// The size of the buffer, which holds any response.
    static let bufferBytes = 64 << 10
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Client.bufferBytes, alignment: 16)
    private var held = 0

    init(port: Int) throws {
        #if canImport(Glibc)
            self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            self.descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 else { throw Failure(description: "could not connect") }
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(self.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(self.descriptor)
        self.buffer.deallocate()
    }

    func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = write(self.descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
                guard count > 0 else { throw Failure(description: "write failed") }
                sent += count
            }
        }
    }

    private func fill() throws {
        let count = read(self.descriptor, self.buffer.baseAddress?.advanced(by: self.held), self.buffer.count - self.held)
        guard count > 0 else { throw Failure(description: "the server sent nothing for 10 s or closed the connection") }
        self.held += count
    }

    /// Reads and discards `length` bytes.
    func skip(_ length: Int) throws {
        while self.held < length { try self.fill() }
        if let start = self.buffer.baseAddress { start.copyMemory(from: start + length, byteCount: self.held - length) }
        self.held -= length
    }

    /// Reads the head of a response, and returns its length.
    func readHead() throws -> Int {
        while true {
            let text = UnsafeRawBufferPointer(self.buffer)[..<self.held]
            for index in text.indices.dropLast(3)
            where text[index] == 13 && text[index + 1] == 10 && text[index + 2] == 13 && text[index + 3] == 10 {
                let length = index + 4
                defer { try? self.skip(length) }
                return length
            }
            try self.fill()
        }
    }

    /// Reads and discards one frame, and returns its length on the wire.
    func readFrame() throws -> Int {
        while self.held < 4 { try self.fill() }
        let short = Int(self.buffer[1] & 0x7f)
        let length = short == 126 ? 4 + Int(self.buffer[2]) << 8 + Int(self.buffer[3]) : 2 + short
        try self.skip(length)
        return length
    }

    /// Reads and discards a response with `Content-Length`, and returns its length.
    func readResponse() throws -> Int { try self.readResponse { _ in } }

    /// Reads a response, and returns the part of its body between `start` and `end`.
    func readBody(after start: String, until end: UInt8) throws -> String {
        var found = ""
        _ = try self.readResponse { body in
            guard let range = String(decoding: body, as: UTF8.self).range(of: start) else { return }
            let text = String(decoding: body, as: UTF8.self)
            found = String(decoding: text[range.upperBound...].utf8.prefix { $0 != end }, as: UTF8.self)
        }
        return found
    }

    private func readResponse(_ look: (Slice<UnsafeRawBufferPointer>) -> Void) throws -> Int {
        while true {
            let bytes = UnsafeRawBufferPointer(self.buffer)[..<self.held]
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            if let end = text.range(of: "\r\n\r\n"), let field = text.range(of: "content-length:") {
                let head = text[..<end.upperBound].utf8.count
                let number = text[field.upperBound...].drop { $0 == " " }.prefix { $0.isNumber }
                let length = head + (Int(number) ?? 0)
                while self.held < length { try self.fill() }
                look(UnsafeRawBufferPointer(self.buffer)[head..<length])
                try self.skip(length)
                return length
            }
            try self.fill()
        }
    }

    /// Opens a WebSocket.
    func upgrade(_ target: String) throws {
        try self.send(
            Array(
                "GET \(target) HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
                    .utf8))
        _ = try self.readHead()
    }

    /// Opens a WebSocket and joins the root namespace.
    func joinSocketIO() throws {
        try self.upgrade("/socket.io/?EIO=4&transport=websocket")
        _ = try self.readFrame()
        try self.send(Self.frame("40"))
        _ = try self.readFrame()
    }

    static func frame(_ text: String) -> [UInt8] {
        var buffer = ByteBuffer()
        WebSocketFrameEncoder.write(
            WebSocketFrame(opcode: .text, payload: ByteBuffer(string: text)), maskingKey: WebSocketMaskingKey(word: 0x3d21_fa37),
            into: &buffer)
        return Array(buffer.readableBytesView)
    }

    /// Returns the allocations per message with `depth` copies of a text in flight.
    func allocationsPerMessage(_ text: String, depth: Int, rounds: Int = 500) throws -> Double {
        let bytes = Array(repeatElement(Self.frame(text), count: depth).joined())
        try self.send(bytes)
        var answer = 0
        for _ in 0..<depth { answer += try self.readFrame() }
        return try allocations(messages: depth * rounds) {
            for _ in 0..<rounds {
                try self.send(bytes)
                try self.skip(answer)
            }
        }
    }
}
