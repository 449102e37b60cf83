import ApusChatProtocol
import ApusJSON
import ApusPasswords
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

/// Hostile sign-ins and sessions against the whole server with its default budgets.
@Suite(.timeLimit(.minutes(5)))
struct HostileSessionTests {
    // MARK: Sign-ins

    @Test func anUnknownUserIsAnsweredAsOneWithAnotherPassword() async throws {
        try await RealServer.with { server in
            _ = try await server.user("victim", from: "203.0.113.1")
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let wrong = try await server.login("victim", password: "wrong horse battery", from: "198.51.100.2")
            let unknown = try await server.login("nobody1", password: "wrong horse battery", from: "198.51.100.3")
            #expect(wrong.status == 401 && unknown.status == 401)
            #expect(wrong.body == unknown.body)
            // A conversation of other users is refused as a missing one.
            let pair = try await server.user("carol", from: "203.0.113.2").ask(
                ChatVerbs.conversationOpen, OpenRequest(id: id("o"), user: UserName(prepared: "victim"))
            ).head.conversation
            let foreign = await refusal { _ = try await mallory.ask(ChatVerbs.history, HistoryRequest(conversation: pair, range: .newest)) }
            let missing = await refusal {
                _ = try await mallory.ask(ChatVerbs.history, HistoryRequest(conversation: ConversationID(number: 7), range: .newest))
            }
            #expect(foreign != nil && foreign == missing)
        }
    }

    @Test func registrationsOfOneAddressAreBounded() async throws {
        try await RealServer.with { server in
            var created = 0
            for number in 0..<20 where try await server.register("user\(number)", from: "198.51.100.1").status == 200 { created += 1 }
            #expect(created == 5)
            #expect(try await server.register("other", from: "203.0.113.1").status == 200)
        }
    }

    @Test func namesSprayedFromOneAddressAreRefused() async throws {
        try await RealServer.with { server in
            _ = try await server.user("victim", from: "203.0.113.1")
            var statuses: [Int: Int] = [:]
            for number in 0..<60 {
                statuses[try await server.login("user\(number)", from: "198.51.100.1").status, default: 0] += 1
            }
            #expect(statuses == [401: 20, 429: 40])
            #expect(try await server.login("victim", from: "203.0.113.1").status == 200)
        }
    }

    @Test func aStrangerCannotLockTheOwnerOut() async throws {
        try await RealServer.with { server in
            let victim = try await server.user("victim", from: "203.0.113.1")
            let known = try #require(victim.session.known)
            var last = 0
            for number in 0..<30 {
                last = try await server.login("victim", password: "wrong horse battery", from: "198.51.\(number).1").status
            }
            #expect(last == 429)
            #expect(try await server.login("victim", from: "203.0.113.9").status == 429)
            #expect(try await server.login("victim", known: known, from: "203.0.113.9").status == 200)
        }
    }

    @Test func passwordsDoNotDelayMessages() async throws {
        try await RealServer.with({ $0.environment.passwordCost = .init(logRounds: 16) }) { server in
            let alice = try await server.user("alice", from: "203.0.113.1")
            let socket = try await alice.connect()
            let own = try await socket.ask(ChatVerbs.sync, SyncRequest()).heads[0].conversation
            let pending = NIOLockedValueBox(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    pending.withLockedValue { $0 += 1 }
                    group.addTask {
                        _ = try await server.login("user\(number)", from: "198.51.\(number).1")
                        pending.withLockedValue { $0 -= 1 }
                    }
                }
                _ = try await socket.ask(
                    ChatVerbs.send, SendRequest(id: id("m"), conversation: own, kind: .text, body: ["text": "note"]))
                #expect(pending.withLockedValue { $0 } > 0, "a message is stored while passwords are compared")
                try await group.waitForAll()
            }
        }
    }

    @Test func oneAddressDoesNotFillTheQueueOfSignIns() async throws {
        try await RealServer.with({ $0.environment.passwordCost = .init(logRounds: 14) }) { server in
            _ = try await server.user("victim", from: "203.0.113.1")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await server.login("user\(number)", from: "198.51.100.1").status
                    }
                }
                #expect(try await server.login("victim", from: "203.0.113.1").status == 200)
                var statuses: [Int: Int] = [:]
                for try await status in group { statuses[status, default: 0] += 1 }
                #expect((1...20).contains(statuses[401, default: 0]), "the budget of the address")
                #expect(statuses[429, default: 0] == 200 - statuses[401, default: 0])
            }
        }
    }

    // MARK: Sessions

    @Test func renewalsOfOneDeviceAreBounded() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("victim", from: "203.0.113.1")
            var refresh = mallory.session.refresh
            var renewed = 0
            var refused: RawHTTP.Answer?
            while refused == nil, renewed < 100 {
                let answer = try await server.http.post("/api/refresh", #"{"refresh":"\#(refresh)"}"#, RealServer.fields("198.51.100.1"))
                guard answer.status == 200 else {
                    refused = answer
                    break
                }
                refresh = try SessionAnswer(json: answer.json()).refresh
                renewed += 1
            }
            #expect(renewed == 20)
            #expect(refused?.status == 429 && refused?.headers["retry-after"] != nil)
            // A refused renewal does not use up the token, so the session continues.
            let other = try await server.http.post(
                "/api/refresh", #"{"refresh":"\#(victim.session.refresh)"}"#, RealServer.fields("203.0.113.1"))
            #expect(other.status == 200)
        }
    }

    @Test func endsOfSessionsByOneDeviceAreBounded() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            var answers: [Int: Int] = [:]
            for _ in 0..<60 {
                let answer = try await server.http.get("/api/sessions/2d3e4v5c6e7a8", mallory.fields, method: "DELETE")
                answers[answer.status, default: 0] += 1
            }
            #expect(answers == [404: 20, 429: 40])
        }
    }

    @Test func aStolenRefreshTokenEndsTheSessionAndItsConnection() async throws {
        try await RealServer.with { server in
            let victim = try await server.user("victim", from: "203.0.113.1")
            let socket = try await victim.connect()
            func renew(_ token: String, from address: String) async throws -> RawHTTP.Answer {
                try await server.http.post("/api/refresh", #"{"refresh":"\#(token)"}"#, RealServer.fields(address))
            }
            let thief = try SessionAnswer(json: try await renew(victim.session.refresh, from: "198.51.100.1").json())
            _ = try await renew(thief.refresh, from: "198.51.100.1")
            #expect(try await renew(victim.session.refresh, from: "203.0.113.1").status == 401)
            await socket.waitUntilClosed()
            #expect(try await server.http.get("/api/sessions", RealServer.fields("198.51.100.1", token: thief.access)).status == 401)
        }
    }

    @Test func aPasswordChangeEndsTheOtherSessions() async throws {
        try await RealServer.with { server in
            let victim = try await server.user("victim", from: "203.0.113.1")
            let thief = RealUser(
                server: server, address: "198.51.100.1",
                session: try SessionAnswer(json: try await server.login("victim", from: "198.51.100.1").json()))
            let socket = try await thief.connect()
            let body = #"{"old":"\#(RealServer.password)","new":"another horse battery","device":{"name":"Test","platform":"linux"}}"#
            #expect(try await server.http.post("/api/password", body, victim.fields).status == 200)
            await socket.waitUntilClosed()
            #expect(try await server.http.get("/api/sessions", thief.fields).status == 401)
        }
    }
}
