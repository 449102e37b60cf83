import NIOCore
import Testing

@testable import ApusWebSocketProtocol

@Suite struct WebSocketMaskingKeyTests {
    private let key = WebSocketMaskingKey(word: UInt32(littleEndian: 0xC3_B2_A1_90))
    private let keyBytes: [UInt8] = [0x90, 0xA1, 0xB2, 0xC3]

    /// The copy works in steps of 32, 8 and 1 bytes; these lengths cover combinations of all.
    @Test(arguments: 0..<80) func eachByteIsMixedWithItsByteOfTheKey(length: Int) {
        let source = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var target = [UInt8](repeating: 0, count: length)
        source.withUnsafeBytes { source in target.withUnsafeMutableBytes { _ = self.key.copy(source, to: $0) } }
        #expect(target == source.enumerated().map { $1 ^ self.keyBytes[$0 % 4] })
    }

    @Test(arguments: 0..<80) func oneOtherByteAnywhereIsNotASCII(length: Int) {
        let plain = [UInt8](repeating: 0x7F, count: length)
        #expect(self.isASCII(plain))
        for index in plain.indices {
            var bytes = plain
            bytes[index] = 0x80
            #expect(!self.isASCII(bytes), "a byte at \(index)")
        }
    }

    /// Returns whether unmasking these bytes reports ASCII.
    private func isASCII(_ bytes: [UInt8]) -> Bool {
        let masked = bytes.enumerated().map { $1 ^ self.keyBytes[$0 % 4] }
        var target = bytes
        return masked.withUnsafeBytes { source in target.withUnsafeMutableBytes { self.key.copy(source, to: $0) } }
    }

    /// From the frames of one read to the actions: a text in ASCII, one in UTF-8, one that is
    /// invalid.
    @Test(arguments: [1, 8, 31, 32, 40, 77]) func aTextIsScannedUnlessItIsASCII(length: Int) {
        let ascii = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        let chinese = ascii + Array("中".utf8)
        var machine = WebSocketConnectionStateMachine()
        #expect(
            self.received([ascii, chinese, ascii], by: &machine)
                == [ascii, chinese, ascii].map { .deliver(WebSocketMessage(.text, ByteBuffer(bytes: $0))) })
        let broken = chinese.dropLast()
        guard case .fail(let error, sendClose: true) = self.received([ascii, Array(broken)], by: &machine).last else {
            Issue.record("a text that ends within a character")
            return
        }
        #expect(error.code == .invalidUTF8)
    }

    private func received(
        _ texts: [[UInt8]], by machine: inout WebSocketConnectionStateMachine
    ) -> [WebSocketConnectionStateMachine.FrameAction] {
        var read = ByteBuffer()
        for text in texts { WebSocketFrameEncoder.write(text: text, maskingKey: self.key, into: &read) }
        var decoder = WebSocketFrameDecoder(role: .server, limits: WebSocketLimits())
        var space = DecodeScratch()
        #expect(decoder.decode(&read, using: &space) == nil)
        var frames = space.takeBatch()
        var actions: [WebSocketConnectionStateMachine.FrameAction] = []
        while let frame = frames.next() { actions.append(machine.receivedFrame(frame, isASCII: frames.isASCII)) }
        return actions
    }
}
