// The code of the landing page of ApusFramedProtocol. `scripts/check-snippets` compares the two.
import ApusFramedProtocol
import NIOCore

struct FramedEcho {
    var session: FramedSession
    var pending = ByteBuffer()

    init() throws {
        self.session = try FramedSession(isClient: false, framing: .version2)
    }

    /// Returns the bytes to write for the bytes that were read.
    mutating func received(_ bytes: ByteBuffer) throws -> [ByteBuffer] {
        self.pending.writeImmutableBuffer(bytes)
        var output: [ByteBuffer] = []
        for action in self.session.receivedBytes(&self.pending) {
            switch action {
            case .write(let bytes), .writePong(let bytes): output.append(bytes)
            case .messageBegan(let header, let bodyLength):
                print("a message with \(bodyLength) bytes")
                var answer = try self.session.message(header: header, bodyLength: 0)
                output += try answer.next(ByteBuffer())
            case .messageBody(let bytes): print(bytes.readableBytes)
            case .fail(let error): throw error
            case .opened, .messageEnded, .transfer, .pong, .receivedBye: break
            }
        }
        return output
    }
}
