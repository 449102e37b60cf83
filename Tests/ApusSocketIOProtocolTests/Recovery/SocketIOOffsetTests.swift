import ApusSocketIOProtocol
import Testing

@Suite struct SocketIOOffsetTests {
    @Test(arguments: [(UInt64(0), "abc.0"), (35, "abc.z"), (36, "abc.10"), (.max, "abc.3w5e11264sgsf")])
    func isWrittenAndReadBack(number: UInt64, text: String) {
        let offset = SocketIOOffset(epoch: "abc", number: number)
        #expect(offset.description == text)
        #expect(SocketIOOffset(text) == offset)
    }

    @Test(arguments: ["", ".", "abc", "abc.", ".1", "abc.1.2", "abc.-1", "abc.+1", "abc. 1", "abc.1 ", "abc.3w5e11264sgsg", "hello world."])
    func otherTextIsNotAnOffset(text: String) {
        #expect(SocketIOOffset(text) == nil)
    }
}
