import NIOCore
import Testing

@testable import ApusConnectivity

@Suite struct SOCKS5StateMachineTests {
    private func receivedBytes(_ machine: inout SOCKS5StateMachine, _ bytes: UInt8...) -> ProxyAction {
        var buffer = ByteBuffer(bytes: bytes)
        return machine.receivedBytes(&buffer)
    }

    private func waitingForReply() throws -> SOCKS5StateMachine {
        var machine = try SOCKS5StateMachine(host: "10.0.0.1", port: 80, credentials: nil)
        _ = machine.start()
        #expect(self.receivedBytes(&machine, 5, 0) == .send([5, 1, 0, 1, 10, 0, 0, 1, 0, 80]))
        return machine
    }

    @Test func theProxyResolvesNames() throws {
        var machine = try SOCKS5StateMachine(host: "example.com", port: 443, credentials: nil)
        #expect(machine.start() == [5, 1, 0])
        #expect(self.receivedBytes(&machine, 5, 0) == .send([5, 1, 0, 3, 11] + "example.com".utf8 + [1, 0xBB]))
        #expect(self.receivedBytes(&machine, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0) == .connected)
        #expect(self.receivedBytes(&machine, 5, 0) == .waitForMore)
    }

    @Test func anAddressIsSentAsBytes() throws {
        var machine = try SOCKS5StateMachine(host: "::1", port: 65535, credentials: nil)
        _ = machine.start()
        #expect(self.receivedBytes(&machine, 5, 0) == .send([5, 1, 0, 4] + Array(repeating: 0, count: 15) + [1, 0xFF, 0xFF]))
    }

    @Test func credentialsAreSentOnRequest() throws {
        var machine = try SOCKS5StateMachine(host: "10.0.0.1", port: 80, credentials: .init(username: "al", password: "pw"))
        #expect(machine.start() == [5, 2, 0, 2])
        #expect(self.receivedBytes(&machine, 5, 2) == .send([1, 2, 0x61, 0x6C, 2, 0x70, 0x77]))
        #expect(self.receivedBytes(&machine, 1, 0) == .send([5, 1, 0, 1, 10, 0, 0, 1, 0, 80]))
    }

    @Test func credentialsAreNotSentWithoutARequest() throws {
        var machine = try SOCKS5StateMachine(host: "10.0.0.1", port: 80, credentials: .init(username: "al", password: "pw"))
        _ = machine.start()
        #expect(self.receivedBytes(&machine, 5, 0) == .send([5, 1, 0, 1, 10, 0, 0, 1, 0, 80]))
    }

    @Test func theWrongPassword() throws {
        var machine = try SOCKS5StateMachine(host: "h", port: 80, credentials: .init(username: "al", password: "pw"))
        _ = machine.start()
        _ = self.receivedBytes(&machine, 5, 2)
        guard case .fail(let error) = self.receivedBytes(&machine, 1, 1) else { return #expect(Bool(false)) }
        #expect(error.code == .proxyAuthentication)
        #expect(self.receivedBytes(&machine, 1, 0) == .waitForMore)
    }

    @Test(
        arguments: [
            ([4], ConnectivityError.Code.proxyProtocol), ([5, 2], .proxyProtocol), ([5, 1], .proxyProtocol),
            ([5, 0xFF], .proxyAuthentication),
        ] as [([UInt8], ConnectivityError.Code)])
    func aBadMethod(answer: [UInt8], code: ConnectivityError.Code) throws {
        var machine = try SOCKS5StateMachine(host: "h", port: 80, credentials: nil)
        _ = machine.start()
        var buffer = ByteBuffer(bytes: answer)
        guard case .fail(let error) = machine.receivedBytes(&buffer) else { return #expect(Bool(false)) }
        #expect(error.code == code)
    }

    @Test(arguments: UInt8.min...UInt8.max) func everyReplyIsAnAnswer(code: UInt8) throws {
        var machine = try self.waitingForReply()
        let action = self.receivedBytes(&machine, 5, code, 0, 1, 0, 0, 0, 0, 0, 0)
        if code == 0 { return #expect(action == .connected) }
        guard case .fail(let error) = action else { return #expect(Bool(false)) }
        #expect(error.code == .proxyRefused)
    }

    @Test(arguments: UInt8.min...UInt8.max) func everyKindOfAddress(kind: UInt8) throws {
        var machine = try self.waitingForReply()
        var reply = ByteBuffer(bytes: [5, 0, 0, kind])
        if kind == 3 { reply.writeInteger(UInt8(255)) }
        reply.writeRepeatingByte(9, count: kind == 1 ? 4 : kind == 3 ? 255 : 16)
        reply.writeBytes([0, 80])
        reply.writeString("rest")
        // Byte by byte, then the server's bytes in one read.
        var buffer = ByteBuffer()
        var action = ProxyAction.waitForMore
        while action == .waitForMore, let byte = reply.readInteger(as: UInt8.self) {
            buffer.writeInteger(byte)
            action = machine.receivedBytes(&buffer)
        }
        if [1, 3, 4].contains(kind) {
            #expect(action == .connected)
            #expect(buffer.readableBytes == 0 && reply.readableBytes == 4)
        } else {
            guard case .fail(let error) = action else { return #expect(Bool(false)) }
            #expect(error.code == .proxyProtocol)
        }
    }

    @Test func textsThatDoNotFitAreRefused() {
        let long = String(repeating: "x", count: 256)
        for (host, port, credentials) in [
            (long, 80, nil), ("", 80, nil), ("h", 0, nil), ("h", 65536, nil), ("h", 80, ("", "p")), ("h", 80, ("u", "")),
            ("h", 80, (long, "p")),
            ("h", 80, ("u", long)),
        ] as [(String, Int, (String, String)?)] {
            let credentials = credentials.map { ProxySettings.Credentials(username: $0.0, password: $0.1) }
            #expect(throws: ConnectivityError.self) { try SOCKS5StateMachine(host: host, port: port, credentials: credentials) }
        }
    }
}
