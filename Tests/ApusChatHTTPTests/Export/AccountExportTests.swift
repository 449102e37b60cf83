import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The requests that an export makes for its user, and the entries of its archive.
@Suite struct AccountExportTests {
    /// Answers reads with a script, and records them in the form `history from=2 conv=a`.
    private final class Script: ChatRequests {
        typealias Answer = @Sendable (_ verb: String, _ request: JSONObject) throws -> String

        private let script: Answer
        private let noted = NIOLockedValueBox<[String]>([])

        init(_ script: @escaping Answer) { self.script = script }

        /// The recorded requests, in order.
        var requests: [String] { self.noted.withLockedValue { $0 } }

        func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
            let fields = request.objectValue ?? [:]
            var text = verb
            for name in ["page", "conv"] { if let value = fields[name]?.stringValue { text += " \(name)=\(value)" } }
            if let from = fields["from"]?.intValue { text += " from=\(from)" }
            self.noted.withLockedValue { $0.append(text) }
            do {
                return try JSONValue(jsonString: try self.script(verb, fields))
            } catch let error as ChatError {
                throw error
            } catch { throw ChatError(.internal, message: "\(error)") }
        }

        func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
            -> JSONValue
        { throw ChatError(.unsupported, message: "An export only reads.") }

        func writeFailure() async -> String? { nil }
    }

    private func session(_ server: TestServer, _ name: String = "alice") async throws -> AccountSession {
        try await server.test.accounts.session(access: server.test.register(name).access)
    }

    /// Returns the bytes of an export.
    private func export(_ server: TestServer, _ session: AccountSession, _ script: Script) async throws -> Data {
        var all = Data()
        let export = AccountExport(session: session, accounts: server.test.accounts, chat: script, files: server.files)
        try await export.write { all.append(contentsOf: $0.readableBytesView) }
        return all
    }

    private func contains(_ data: Data, _ text: String) -> Bool { data.range(of: Data(text.utf8)) != nil }

    private static let start = ["settings", "users", "contacts", "scheduled", "sync"]

    @Test func anAccountWithoutDataIsAWholeArchive() async throws {
        let server = try TestServer()
        let script = Script { verb, _ in verb == "sync" ? #"{"heads":[],"token":"t"}"# : "{}" }
        let data = try await self.export(server, self.session(server), script)
        #expect(script.requests == Self.start)
        #expect(data.prefix(4) == Data([0x50, 0x4B, 3, 4]) && data.range(of: Data([0x50, 0x4B, 5, 6])) != nil)
        for name in [
            "README.txt", "settings.json", "profile.json", "devices.json", "contacts.jsonl", "scheduled.jsonl", "conversations.jsonl",
        ] {
            #expect(self.contains(data, name), "\(name)")
        }
        #expect(!self.contains(data, "messages/") && !self.contains(data, "uploads/"))
    }

    @Test func everyPageOfAListIsRead() async throws {
        let server = try TestServer()
        let script = Script { verb, request in
            switch (verb, request["page"]?.stringValue) {
            case ("contacts", nil): #"{"contacts":[],"page":"c1"}"#
            case ("contacts", "c1"): #"{"contacts":[],"page":"c2"}"#
            case ("scheduled", nil): #"{"scheduled":[],"page":"s1"}"#
            case ("sync", nil): #"{"heads":[{"conv":"a","seq":1}],"page":"h1"}"#
            case ("sync", "h1"): #"{"heads":[{"conv":"b","seq":1}]}"#
            case ("history", _): #"{"events":[],"seq":1}"#
            default: "{}"
            }
        }
        let data = try await self.export(server, self.session(server), script)
        #expect(
            script.requests == [
                "settings", "users", "contacts", "contacts page=c1", "contacts page=c2", "scheduled", "scheduled page=s1", "sync",
                "sync page=h1", "history conv=a from=1", "history conv=b from=1",
            ])
        #expect(!self.contains(data, "messages/"), "a log without an event has no entry")
    }

    /// The answers of `history` (first seq, last seq, end of the log), and the seqs from which the
    /// export reads.
    @Test(
        arguments: [
            ([(2, 3, 6), (4, 6, 6)], [2, 4]), ([(2, 6, 6)], [2]),
            // The log grows or shrinks during the export.
            ([(2, 6, 6), (7, 8, 8)], [2]), ([(2, 3, 8), (4, 8, 8)], [2, 4]), ([(2, 5, 6), (6, 6, 3)], [2, 6]),
            // An answer without progress ends the log.
            ([(2, 3, 6), (2, 3, 6)], [2, 4]), ([(1, 1, 6)], [2]), ([(2, 4, 0)], [2]),
        ] as [([(Int, Int, Int)], [Int])])
    func aLogIsReadToItsEnd(answers: [(Int, Int, Int)], from: [Int]) async throws {
        let server = try TestServer()
        let count = NIOLockedValueBox(0)
        let script = Script { verb, _ in
            guard verb == "history" else { return verb == "sync" ? #"{"heads":[{"conv":"a","seq":6,"min_seq":2}]}"# : "{}" }
            let index = count.withLockedValue { value in
                defer { value += 1 }
                return value
            }
            guard index < answers.count else { throw ChatError(.internal, message: "No further request is expected.") }
            let (first, last, end) = answers[index]
            let events = (first...last).map { #"{"conv":"a","seq":\#($0),"kind":"text"}"# }.joined(separator: ",")
            return #"{"events":[\#(events)],"seq":\#(end)}"#
        }
        _ = try await self.export(server, self.session(server), script)
        #expect(script.requests == Self.start + from.map { "history conv=a from=\($0)" })
    }

    /// A conversation without a log, or with a log that is no longer served, is left out. Any other
    /// refusal ends the export, so that its file is visibly incomplete.
    @Test(arguments: [(ChatError.Code.notFound, true), (.unauthorized, false), (.unavailable, false), (.tooMany, false)])
    func aRefusalOfALog(code: ChatError.Code, continues: Bool) async throws {
        let server = try TestServer()
        let script = Script { verb, request in
            if verb == "sync" { return #"{"heads":[{"conv":"a","seq":1},{"conv":"i","seq":0},{"conv":"b","seq":1}]}"# }
            guard verb == "history" else { return "{}" }
            if request["conv"] == "a" { throw ChatError(code, message: "refused") }
            return #"{"events":[{"conv":"b","seq":1,"kind":"text"}],"seq":1}"#
        }
        let session = try await self.session(server)
        do {
            let data = try await self.export(server, session, script)
            #expect(continues && self.contains(data, "messages/b.jsonl") && !self.contains(data, "messages/a.jsonl"))
            #expect(script.requests == Self.start + ["history conv=a from=1", "history conv=b from=1"], "an invitation is not read")
        } catch let error as ChatError {
            #expect(!continues && error.code == code)
        }
    }

    /// The archive contains the files of its account only.
    @Test func onlyTheUploadsOfTheUserAreReturned() async throws {
        let server = try TestServer()
        let mine = [UInt8]("the bytes of alice".utf8) + [UInt8](repeating: 7, count: 150_000) + [UInt8]("the end".utf8)
        let tokens = NIOLockedValueBox("")
        try await server.run { requests in
            let token = try await requests.token("alice")
            tokens.withLockedValue { $0 = token }
            #expect(try await requests.upload(mine, token: token).status == .noContent)
            let other = try await requests.token("bobby")
            #expect(try await requests.upload(Array("the bytes of bobby".utf8), token: other).status == .noContent)
        }
        let session = try await server.test.accounts.session(access: tokens.withLockedValue { $0 })
        let data = try await self.export(server, session, Script { _, _ in "{}" })
        // The bytes are stored in blocks without compression.
        let (first, last) = (data.range(of: Data("the bytes of alice".utf8)), data.range(of: Data("the end".utf8)))
        let (start, end) = (try #require(first?.upperBound), try #require(last?.lowerBound))
        try #require(start < end)
        #expect((150_000..<150_100).contains(data[start..<end].count { $0 == 7 }), "and those of the headers of blocks")
        #expect(!self.contains(data, "the bytes of bobby"))
    }

    /// An error of the connection ends the export.
    @Test func anErrorOfTheConnectionEndsTheExport() async throws {
        struct Gone: Error {}
        let server = try TestServer()
        let script = Script { verb, _ in verb == "sync" ? #"{"heads":[]}"# : "{}" }
        let export = AccountExport(
            session: try await self.session(server), accounts: server.test.accounts, chat: script, files: server.files)
        await #expect(throws: Gone.self) { try await export.write { _ in throw Gone() } }
    }

    // MARK: Names

    @Test(arguments: [
        ("image/png", "png"), ("image/jpeg", "jpg"), ("audio/mpeg", "mp3"), ("video/quicktime", "mov"), ("text/html", "bin"), ("", "bin"),
        ("image/PNG", "bin"), ("image/png; charset=x", "bin"), ("../../etc", "bin"),
    ]) func anExtensionIsOneOfTheServer(type: String, text: String) { #expect(MediaType.fileExtension(of: type) == text) }
}
