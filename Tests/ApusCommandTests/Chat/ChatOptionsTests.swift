import ApusChatClient
import ApusChatProtocol
import ArgumentParser
import Foundation
import Testing

@testable import apus

/// The arguments of `apus chat` and its subcommands, their exit codes, and the file of a password.
@Suite("Options of the chat command")
struct ChatOptionsTests {
    // MARK: Arguments

    @Test(arguments: [("0", true), ("86400", true), ("-1", false), ("86401", false), ("ten", false), ("", false), ("1.5", false)])
    func theWaitHasBounds(text: String, isAccepted: Bool) {
        #expect(((try? ChatOptions.parse(["--wait=\(text)"])) != nil) == isAccepted)
    }

    @Test(arguments: [("1", true), ("10000", true), ("0", false), ("-5", false), ("10001", false), ("9223372036854775808", false)])
    func theNumberOfMessagesHasBounds(text: String, isAccepted: Bool) {
        #expect(((try? ChatHistoryCommand.parse(["bob", "--count=\(text)"])) != nil) == isAccepted)
    }

    @Test(arguments: [("1", true), ("9223372036854775807", true), ("0", false), ("-1", false), ("#3", false), ("3.0", false)])
    func aReplyHasTheNumberOfAMessage(text: String, isAccepted: Bool) {
        #expect(((try? ChatSendCommand.parse(["bob", "hello", "--reply=\(text)"])) != nil) == isAccepted)
    }

    @Test func aTextMayLookLikeAnOption() throws {
        let send = try ChatSendCommand.parse(["bob", "--", "--help"])
        #expect(send.text == "--help" && send.conversation == "bob" && !send.plain && !send.json)
        #expect(throws: (any Error).self) { try ChatSendCommand.parse(["bob", "one", "two"]) }
        #expect(throws: (any Error).self) { try ChatSendCommand.parse([]) }
        #expect(throws: (any Error).self) { try ChatSearchCommand.parse([]) }
        #expect(try ChatSearchCommand.parse(["two", "words"]).words == ["two", "words"])
    }

    @Test(arguments: ["On", "enable", "", "statu"]) func anAuthenticatorIsTurnedOnOrOff(word: String) throws {
        #expect(throws: (any Error).self) { try ChatAuthenticatorCommand.parse([word]) }
        for change in ChatAuthenticatorCommand.Change.allCases {
            #expect(try ChatAuthenticatorCommand.parse([change.rawValue]).change == change)
        }
    }

    @Test func namedOptionsAreTheAccount() throws {
        let options = try ChatOptions.parse(["--server", "http://a.example", "--user", "bob", "--store", "/tmp/store"])
        let account = try options.account()
        #expect(account.server == "http://a.example" && account.user == "bob" && account.store == "/tmp/store")
    }

    // MARK: Failures

    @Test(
        arguments: [
            (ChatClientError(.signedOut, message: ""), 77), (ChatClientError(.wrongCredentials, message: ""), 77),
            (ChatClientError(.unreachable, message: ""), 69), (ChatClientError(.timeout, message: ""), 69),
            (ChatClientError(.notConnected, message: ""), 69), (ChatClientError(.badAnswer, message: ""), 69),
            (ChatClientError(.store, message: ""), 74),
            (ChatClientError(.wrongStore, message: ""), 74), (ChatClientError(.badAddress, message: ""), 64),
            (ChatClientError(.invalidUse, message: ""), 64), (ChatClientError(.notFound, message: ""), 66),
            (ChatClientError(.closed, message: ""), 70), (ChatClientError(.cancelled, message: ""), 70),
            (ChatClientError(.invalidConfiguration, message: ""), 70),
        ] as [(ChatClientError, Int32)])
    func eachErrorHasItsExitCode(error: ChatClientError, code: Int32) { #expect(ChatFailure.exitCode(for: error) == code) }

    @Test(arguments: ChatError.Code.allCases) func aRefusalHasTheExitCodeOfItsReason(code: ChatError.Code) {
        let error = ChatClientError(.refused, message: "", serverError: ChatError(code, message: ""))
        let expected: Int32 =
            switch code {
            case .unauthorized: 77
            case .tooMany, .storage, .unavailable, .internal: 69
            default: 64
            }
        #expect(ChatFailure.exitCode(for: error) == expected)
    }

    @Test func theAdviceNamesTheRemedy() {
        func advice(_ error: ChatClientError) -> String { ChatFailure.advice(for: error, user: "alice") }
        #expect(
            advice(ChatClientError(.wrongCredentials, message: "No."))
                == "No. Check the name and password; to create the account \"alice\", add --register.")
        // A sign-in is not the remedy for a change that was confirmed with a wrong password.
        let wrong = ChatError(.forbidden, message: "Wrong.", field: "password")
        #expect(advice(ChatClientError(.wrongCredentials, message: "Wrong.", serverError: wrong)) == "Wrong.")
        #expect(advice(ChatClientError(.signedOut, message: "Ended.")) == "Ended.")
        let taken = ChatError(.conflict, message: "Taken.", field: "name")
        #expect(
            advice(ChatClientError(.refused, message: "Taken.", serverError: taken))
                == "Taken. To sign in to an existing account, omit --register.")
        let other = ChatError(.conflict, message: "Taken.", field: "device")
        #expect(advice(ChatClientError(.refused, message: "Taken.", serverError: other)) == "Taken.")
        #expect(advice(ChatClientError(.unreachable, message: "Down.")) == "Down.")
        #expect(advice(ChatClientError(.invalidUse, message: "Wrong.")) == "Wrong.")
    }

    // MARK: The password

    private func password(_ bytes: [UInt8]) throws -> String {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try ChatPassword.read(file: file.path, for: "alice", confirm: true)
    }

    @Test(arguments: [
        ("secret", "secret"), ("secret\n", "secret"), ("secret\r\nnext\r\n", "secret"), ("two words \nx", "two words "), ("密码\n", "密码"),
        ("\tx\n", "\tx"),
    ])
    func aPasswordIsTheFirstLine(content: String, expected: String) throws { #expect(try self.password(Array(content.utf8)) == expected) }

    /// What follows the first line is not read as text.
    @Test func theRestOfTheFileDoesNotMatter() throws {
        let note = Array(String(repeating: "注", count: 4_000).utf8)
        for shift in 0..<3 { #expect(try self.password(Array("secret\n".utf8) + Array(repeating: 0x61, count: shift) + note) == "secret") }
        #expect(try self.password(Array("secret\n".utf8) + [0xFF, 0xFE]) == "secret")
    }

    @Test(arguments: [[], [0x0A], [0x0D, 0x0A], Array("\nsecret\n".utf8), Array("\r\nsecret".utf8)] as [[UInt8]])
    func anEmptyFirstLineIsNotAPassword(bytes: [UInt8]) {
        let error = #expect(throws: ChatClientError.self) { try self.password(bytes) }
        #expect(error?.code == .invalidUse && error?.message.hasSuffix("is empty") == true)
    }

    @Test func aFileThatIsNotATextOrIsMissingIsNotRead() {
        #expect(throws: ChatClientError.self) { try self.password([0xFF, 0x61, 0x0A]) }
        let error = #expect(throws: ChatClientError.self) { try ChatPassword.read(file: "/no/such/file", for: "alice", confirm: false) }
        #expect(error?.code == .notFound && error?.message == "cannot read the password file /no/such/file")
    }

    // MARK: The store

    /// No server and no name leads out of the folder of the stores.
    @Test(arguments: [
        ("http://a.example", "bob", "a.example-bob"), ("http://a.example:8080/x?y", "BOB", "a.example-8080-bob"),
        ("http://[::1]:3000", "bob", "__1-3000-bob"), ("no url", "bob", "no_url-bob"), ("", "", "-"),
        ("http://a/../../b", "a/../b", "a-a_.._b"),
        ("http://a.example", "b\u{0}\n\u{1B}[2J", "a.example-b____2j"), ("http://user:secret@a.example", "bob", "a.example-bob"),
    ])
    func aStoreIsBesideTheOthers(server: String, user: String, name: String) {
        let folder = ChatStorePath.folderName(server: server, user: user)
        #expect(folder == name)
        #expect(!folder.contains("/") && folder != "." && folder != "..")
    }
}
