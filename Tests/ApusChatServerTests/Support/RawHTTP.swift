import ApusJSON
import NIOCore
import NIOPosix

/// An HTTP client that sends each request as text over a separate connection, without a time limit.
struct RawHTTP {
    struct Answer: Sendable {
        var status: Int
        /// The fields by lower-case name.
        var headers: [String: String]
        var body: String

        func json() throws -> JSONValue { try JSONReader.read(Array(self.body.utf8)) }
    }

    var port: Int
    /// The text before each request, such as a PROXY header.
    var prefix = ""

    func get(_ path: String, _ headers: [String: String] = [:], method: String = "GET") async throws -> Answer {
        try await self.send(method, path, headers, "")
    }

    func post(_ path: String, _ body: String, _ headers: [String: String] = [:], method: String = "POST") async throws -> Answer {
        try await self.send(method, path, headers, body)
    }

    private func send(_ method: String, _ path: String, _ headers: [String: String], _ body: String) async throws -> Answer {
        var text = self.prefix + "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(self.port)\r\nConnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        text += "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        let bytes = try await Self.exchange(text, port: self.port)
        return try Self.answer(String(decoding: bytes.readableBytesView, as: UTF8.self))
    }

    /// Writes a text and returns the bytes that the server sends until it closes or resets the
    /// connection.
    static func exchange(_ text: String, port: Int) async throws -> ByteBuffer {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(host: "127.0.0.1", port: port) {
            channel in
            channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
        }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var all = ByteBuffer()
            do { for try await part in inbound { all.writeImmutableBuffer(part) } } catch is IOError {}
            return all
        }
    }

    struct Malformed: Error { var text: String }

    private static func answer(_ text: String) throws -> Answer {
        guard let end = text.firstRange(of: "\r\n\r\n") else { throw Malformed(text: text) }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { throw Malformed(text: text) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Malformed(text: text) }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
        }
        return Answer(status: status, headers: headers, body: String(text[end.upperBound...]))
    }
}
