import ApusBytes
import ApusChatProtocol
import ApusJSON
import HTTPTypes
package import Hummingbird
package import NIOCore

extension Request {
    /// Decodes the body as a JSON object of the protocol. An absent body is an empty object.
    func object<Value: WireObject>(_ type: Value.Type, upTo limit: Int) async throws -> Value {
        try Self.object(type, try await self.json(upTo: limit))
    }

    @inline(never)  // inlined into some routes, it crashes the optimizer of Swift 6.3
    private static func object<Value: WireObject>(_ type: Value.Type, _ json: JSONValue) throws -> Value { try Value(json: json) }

    /// Decodes the body as JSON.
    func json(upTo limit: Int) async throws -> JSONValue {
        let body = try await self.bytes(upTo: limit)
        guard body.readableBytes > 0 else { return .object([:]) }
        do {
            return try JSONReader.read(body.readableBytesView, limits: .init(loneSurrogates: .replace))
        } catch {
            throw ChatError(.badRequest, message: "The body must be a JSON object.")
        }
    }

    /// Collects the body. If the body exceeds the limit, discards up to four times the limit before
    /// it throws. Otherwise, a client that sends its whole body before it reads would not receive
    /// the response.
    package func bytes(upTo limit: Int) async throws -> ByteBuffer {
        let tooLarge = ChatError(.tooLarge, message: "The body exceeds the maximum of \(limit) bytes for this route.")
        let announced = self.headers[.contentLength].flatMap { Int(digits: $0) } ?? 0
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
        // The end of the connection within the body can look like the end of the body.
        guard count >= announced else {
            throw ChatError(.badRequest, message: "The body ended after \(count) of \(announced) bytes.")
        }
        guard count <= limit else { throw tooLarge }
        return body
    }
}
