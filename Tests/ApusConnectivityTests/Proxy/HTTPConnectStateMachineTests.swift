import NIOCore
import Testing

@testable import ApusConnectivity

@Suite struct HTTPConnectStateMachineTests {
    private func machine(_ host: String = "example.com", credentials: ProxySettings.Credentials? = nil) throws -> HTTPConnectStateMachine {
        try HTTPConnectStateMachine(host: host, port: 443, credentials: credentials)
    }

    /// Passes a response to the machine, whole and byte by byte. Returns the action and the
    /// remaining bytes.
    private func outcome(_ answer: String) throws -> (ProxyAction, rest: String) {
        var whole = ByteBuffer(string: answer)
        var machine = try self.machine()
        let action = machine.receivedBytes(&whole)
        var pieces = ByteBuffer(string: answer)
        var buffer = ByteBuffer()
        var other = ProxyAction.waitForMore
        machine = try self.machine()
        while other == .waitForMore, let byte = pieces.readInteger(as: UInt8.self) {
            buffer.writeInteger(byte)
            other = machine.receivedBytes(&buffer)
        }
        #expect(other == action)
        return (action, String(buffer: whole))
    }

    @Test func theRequest() throws {
        #expect(
            String(decoding: try self.machine().start(), as: UTF8.self)
                == "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
        #expect(
            String(decoding: try self.machine("::1", credentials: .init(username: "alice", password: "se:cret")).start(), as: UTF8.self)
                == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic YWxpY2U6c2U6Y3JldA==\r\n\r\n")
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "a\0", "\u{00E9}"]) func aHostThatWouldBreakTheRequest(host: String) {
        #expect(throws: ConnectivityError.self) { try self.machine(host) }
    }

    @Test func aUserNameWithAColonWouldMeanAnotherPassword() {
        #expect(throws: ConnectivityError.self) { try self.machine(credentials: .init(username: "a:b", password: "")) }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n\r\n", ""), ("HTTP/1.0 200\r\nVia: x\r\n\r\n", ""), ("HTTP/1.1 299 Odd\r\n\r\nhello\r\n\r\n", "hello\r\n\r\n"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\nrest", "rest"),
        ("HTTP/1.1 200 \r\r\n\r\n\r\n", "\r\n"),
    ])
    func connected(answer: String, rest: String) throws {
        let outcome = try self.outcome(answer)
        #expect(outcome.0 == .connected)
        #expect(outcome.rest == rest)
    }

    @Test(arguments: [
        ("HTTP/1.1 407 No\r\n\r\n", ConnectivityError.Code.proxyAuthentication), ("HTTP/1.1 403 No\r\n\r\nbody", .proxyRefused),
        ("HTTP/1.1 101 Switching\r\n\r\n", .proxyRefused), ("HTTP/1.1 302 Found\r\nLocation: x\r\n\r\n", .proxyRefused),
        ("HTTP/1.1 999 \r\n\r\n", .proxyRefused), ("HTTP/2 200 OK\r\n\r\n", .proxyProtocol), ("HTTP/1.1 2000\r\n\r\n", .proxyProtocol),
        ("HTTP/1.1 20\r\n\r\n", .proxyProtocol), ("SSH-2.0-x\r\n\r\n", .proxyProtocol), ("\r\n\r\n", .proxyProtocol),
        ("HTTP/1.1 +20 OK\r\n\r\n", .proxyProtocol),
    ])
    func refused(answer: String, code: ConnectivityError.Code) throws {
        guard case .fail(let error) = try self.outcome(answer).0 else { return #expect(Bool(false)) }
        #expect(error.code == code)
    }

    @Test func anAnswerWithoutAnEnd() throws {
        for answer in [
            "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 5000), String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: 1000),
        ] {
            guard case .fail(let error) = try self.outcome(answer).0 else { return #expect(Bool(false)) }
            #expect(error.code == .proxyProtocol)
        }
    }
}
