import ApusChatProtocol
import ApusJSON
import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// Reads an object of the wire. An absent body is an empty object.
    func object<Value: WireObject>(_ type: Value.Type, upTo limit: Int) async throws -> Value {
        try Self.object(type, try await self.json(upTo: limit))
    }

    @inline(never)  // as a part of some routes, it makes the optimizer of Swift 6.3 crash
    private static func object<Value: WireObject>(_ type: Value.Type, _ json: JSONValue) throws -> Value { try Value(json: json) }

    /// Reads a JSON body.
    func json(upTo limit: Int) async throws -> JSONValue {
        let body = try await self.bytes(upTo: limit)
        guard body.readableBytes > 0 else { return .object([:]) }
        do {
            return try JSONReader.read(body.readableBytesView, limits: .init(loneSurrogates: .replace))
        } catch {
            throw ChatError(.badRequest, message: "The body must be a JSON object.")
        }
    }

    /// Collects the body. Discards an oversized one up to four times the limit, because a client
    /// that writes its whole body before it reads would otherwise not receive the answer.
    private func bytes(upTo limit: Int) async throws -> ByteBuffer {
        let tooLarge = ChatError(.tooLarge, message: "The body must have at most \(limit) bytes.")
        let announced = self.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard announced <= 4 * limit else { throw tooLarge }
        var body = ByteBuffer()
        var count = 0
        do {
            for try await part in self.body {
                count += part.readableBytes
                guard count <= 4 * limit else { throw tooLarge }
                if count <= limit { body.writeImmutableBuffer(part) } else { body = ByteBuffer() }
            }
        } catch let error as ChatError {
            throw error
        } catch {
            throw ChatError(.badRequest, message: "The body is incomplete: \(error)")
        }
        // The end of the connection within the body may look like the end of the body.
        guard count >= announced else {
            throw ChatError(.badRequest, message: "The body ended after \(count) of \(announced) bytes.")
        }
        guard count <= limit else { throw tooLarge }
        return body
    }
}
