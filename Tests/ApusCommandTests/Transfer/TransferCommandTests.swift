import ApusConnectivity
import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import ArgumentParser
import Testing

@testable import apus

@Suite struct TransferCommandTests {
    private static let fingerprint = String(repeating: "ab", count: 32)
    private static let code = TransferCode(fingerprint: [UInt8](repeating: 1, count: 32), secret: [UInt8](repeating: 2, count: 8)).text

    @Test func sendTakesFilesAndAnAddress() throws {
        let command = try SendCommand.parse(["a", "b c", "[::1]:2787", "--pin", Self.fingerprint, "--rate-limit", "2MB"])
        #expect(command.paths == ["a", "b c"] && command.address == .tcp(host: "::1", port: 2787))
        #expect(command.rateLimit?.bytes == 2_000_000)
        #expect(try SendCommand.parse(["a", "unix:/tmp/x", "--code", Self.code]).address == .unix(path: "/tmp/x"))
        #expect(try SendCommand.parse(["a", "host:1", "--code", "-"]).code == "-")
    }

    @Test(arguments: [
        [], ["a"], ["host:1"], ["a", "b"], ["a", "host"], ["a", "2787"], ["a", "host:70000"], ["a", "h:1", "--pin", "abc"],
        ["a", "h:1", "--code", "abc"], ["a", "h:1", "--plain", "--pin", fingerprint], ["a", "h:1", "--rate-limit", "1023"],
        ["a", "h:1", "--at-a-time", "0"], ["a", "h:1", "--at-a-time", "17"], ["a", "h:1", "--wait", "-1"],
        ["a", "h:1", "--json", "--quiet"],
        ["x/a", "y/a/", "h:1"],
    ])
    func sendRefuses(arguments: [String]) {
        #expect(throws: (any Error).self) { try SendCommand.parse(arguments) }
    }

    @Test func receiveListensForThisMachineOnly() throws {
        let command = try ReceiveCommand.parse([])
        #expect(command.listen == .tcp(host: "127.0.0.1", port: 2787) && command.into == ".")
        #expect(command.listen.defaultValueDescription == "127.0.0.1:2787")
        #expect(try !command.allowHidden && ReceiveCommand.parse(["--allow-hidden"]).allowHidden)
        #expect(try ReceiveCommand.parse(["--max-bytes", "1GiB", "--code", "--once"]).maxBytes?.bytes == 1 << 30)
    }

    @Test(arguments: [
        ["--plain", "--code"], ["--plain", "--renew"], ["--json", "--quiet"], ["--max-bytes", "0"], ["--listen", "unix:/tmp/x"],
        ["--listen", "x"],
        ["file"],
    ])
    func receiveRefuses(arguments: [String]) {
        #expect(throws: (any Error).self) { try ReceiveCommand.parse(arguments) }
    }

    @Test(arguments: [
        TransferControlMessage.send(files: 3, bytes: 1 << 40, secret: "00ff"), .send(files: 0, bytes: 0, secret: nil),
        .answer(refusal: nil),
        .answer(refusal: "no"), .end,
    ])
    func controlMessagesAreEncodedAndDecoded(message: TransferControlMessage) { #expect(TransferControlMessage(message.header) == message) }

    @Test func unknownControlMessagesAreIgnored() {
        #expect(
            TransferControlMessage([:]) == nil && TransferControlMessage(["apus": 1]) == nil
                && TransferControlMessage(["apus": "later"]) == nil)
        #expect(TransferControlMessage(["apus": "send", "files": -5, "bytes": "x"]) == .send(files: 0, bytes: 0, secret: nil))
        #expect(TransferControlMessage(["apus": "answer"]) == .answer(refusal: "no reason given"))
    }

    @Test func exitCodesMatchSysexits() {
        #expect(TransferFailure.exitCode(for: TransferError(.diskFull, message: "")) == 74)
        #expect(TransferFailure.exitCode(for: TransferError(.busy, message: "")) == 75)
        #expect(TransferFailure.exitCode(for: TransferError(.refused, message: "")) == 77)
        #expect(TransferFailure.exitCode(for: FramedError(.connectionLost, message: "")) == 69)
        let pin = ConnectivityError(.pinMismatch, message: "")
        #expect(TransferFailure.exitCode(for: FramedError(.transport, message: "", cause: pin)) == 77)
    }
}
