import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import Testing

@testable import ApusChatServer

@Suite(.timeLimit(.minutes(5))) struct AdministrationTests {
    /// Runs a command as `apus admin` does, and returns its output.
    private func run(_ server: RunningServer, _ words: String...) async throws -> String {
        try await Administration.perform(words, in: server.folder)
    }

    private func login(_ server: RunningServer) async throws -> Int {
        try await server.http.post("/api/login", RunningServer.registration).status
    }

    @Test func aClosedAccountCannotSignInUntilItIsOpened() async throws {
        try await RunningServer.with { server in
            let token = try #require(
                try await server.http.post("/api/register", RunningServer.registration).json()["access"]?.stringValue)
            #expect(try await self.run(server, "disable", "alice") == "disabled")
            #expect(try await self.run(server, "disable", "alice") == "unchanged")
            #expect(try await self.run(server, "accounts") == "alice\tsuspended\t")
            #expect(try await server.http.get("/api/sessions", ["Authorization": "Bearer " + token]).status == 401)
            #expect(try await self.login(server) == 403)
            #expect(try await self.run(server, "enable", "alice") == "enabled")
            #expect(try await self.login(server) == 200)
        }
    }

    @Test func anAccountOfAnOperatorGetsItsPasswordByACode() async throws {
        try await RunningServer.with({ $0.registration = .closed }) { server in
            #expect(try await server.http.post("/api/register", RunningServer.registration).status == 403)
            let code = try await self.run(server, "create", "alice")
            let body =
                #"{"name":"alice","recovery":"\#(code)","new":"correct horse battery","device":{"name":"Test","platform":"linux"}}"#
            #expect(try await server.http.post("/api/password", body).status == 200)
            #expect(try await self.login(server) == 200)
        }
    }

    @Test func sessionsAreListedAndEnded() async throws {
        try await RunningServer.with { server in
            _ = try await server.http.post("/api/register", RunningServer.registration)
            let fields = try await self.run(server, "sessions", "alice").split(separator: "\t").map(String.init)
            #expect(fields.dropFirst().prefix(2) == ["Test", "linux"])
            #expect(try await self.run(server, "end-sessions", "alice", fields.first ?? "") == "ended 1")
            #expect(try await self.run(server, "sessions", "alice") == "")
        }
    }

    @Test func anInvitationIsListedAndRevoked() async throws {
        try await RunningServer.with({ $0.registration = .invitation }) { server in
            let code = try await self.run(server, "invite", "3")
            let fields = try await self.run(server, "invitations").split(separator: "\t").map(String.init)
            #expect(fields.dropFirst().first == "3 uses")
            #expect(try await self.run(server, "revoke", fields.first ?? "") == "revoked")
            #expect(try await self.run(server, "invitations") == "")
            let body = RunningServer.registration.dropLast() + #","invitation":"\#(code)"}"#
            #expect(try await server.http.post("/api/register", String(body)).status == 403)
        }
    }

    @Test func theDataIsCountedCheckedCopiedAndRewritten() async throws {
        try await RunningServer.with { server in
            _ = try await server.http.post("/api/register", RunningServer.registration)
            #expect(try await self.run(server, "stats").hasPrefix("accounts\t1\n"))
            #expect(try await self.run(server, "check") == "ok")
            let copy = server.folder + "/copy.sqlite"
            #expect(try await self.run(server, "backup", copy) == copy)
            #expect(FileManager.default.fileExists(atPath: copy))
            await #expect(throws: ChatError.self) { try await self.run(server, "backup", copy) }
            #expect(try await self.run(server, "vacuum") == "done")
            #expect(try await self.run(server, "reports") == "")
            #expect(try await self.login(server) == 200)
        }
    }

    @Test func aReportOfAConversationIsListedWithoutAUser() async throws {
        try await RunningServer.with(makeChat: { try ServiceChat($0, $1, $2) }) { server in
            let token = try #require(try await server.http.post("/api/register", RunningServer.registration).json()["access"]?.stringValue)
            let headers = ["Authorization": "Bearer " + token]
            let group = #"{"id":"0192f0c4-7d3e-7a10-9c55-1b2e3f405161","kind":"group","title":"Rude","users":[]}"#
            let created = try await server.http.post("/api/chat/conversation.create", group, headers).json()
            let id = try #require(created["head"]?["conv"]?.stringValue)
            let report = #"{"id":"0192f0c4-7d3e-7a10-9c55-1b2e3f405162","conv":"\#(id)","reason":"abuse"}"#
            #expect(try await server.http.post("/api/chat/report", report, headers).status == 200)
            let fields = try await self.run(server, "reports").split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            #expect(fields.dropFirst(2) == ["open", "alice", "", id, "abuse", ""])
        }
    }

    @Test func aReportIsListedUntilItIsResolved() async throws {
        try await RunningServer.with(makeChat: { try ServiceChat($0, $1, $2) }) { server in
            let answer = try await server.http.post("/api/register", RunningServer.registration).json()
            let token = try #require(answer["access"]?.stringValue)
            _ = try await self.run(server, "create", "mallory")
            let report = #"{"id":"0192f0c4-7d3e-7a10-9c55-1b2e3f405162","user":"mallory","reason":"spam","text":"Ten\ttimes"}"#
            #expect(try await server.http.post("/api/chat/report", report, ["Authorization": "Bearer " + token]).status == 200)
            let fields = try await self.run(server, "reports").split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            #expect(fields.first == "1" && fields.dropFirst(2) == ["open", "alice", "mallory", "", "spam", "Ten times"])
            await #expect(throws: ChatError.self) { try await self.run(server, "resolve", "2") }
            #expect(try await self.run(server, "resolve", "1") == "resolved")
            await #expect(throws: ChatError.self) { try await self.run(server, "resolve", "1") }
            #expect(try await self.run(server, "reports") == "")
            #expect(try await self.run(server, "reports", "all").contains("\tresolved "))
        }
    }

    @Test func commandsWorkWithoutAServer() async throws {
        try await RunningServer.with { server in
            _ = try await server.http.post("/api/register", RunningServer.registration)
            try await server.stop()
            #expect(try await self.run(server, "accounts") == "alice\tactive\t")
            #expect(try await self.run(server, "delete", "alice") == "deleted")
            #expect(try await self.run(server, "accounts") == "alice\tdeleted\t")
            await #expect(throws: ChatError.self) { try await self.run(server, "enable", "alice") }
        }
    }

    @Test func aWrongCommandIsExplained() async throws {
        try await RunningServer.with { server in
            await #expect { try await self.run(server, "fly") } throws: {
                ($0 as? ChatError)?.message.contains("password-code NAME") == true
            }
            await #expect(throws: ChatError.self) { try await self.run(server, "disable", "nobody1") }
            await #expect(throws: ChatError.self) { try await self.run(server, "invite", "0") }
        }
    }

    @Test func aFolderWithoutAChatIsRefused() async throws {
        let folder = NSTemporaryDirectory() + "apus-none-\(UUID().uuidString)"
        await #expect(throws: ChatError.self) { try await Administration.perform(["accounts"], in: folder) }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}
