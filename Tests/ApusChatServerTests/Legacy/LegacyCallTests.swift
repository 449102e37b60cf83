import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatServer

/// Calls between apps of the legacy protocol, through a whole server.
@Suite("Calls of apps of the legacy protocol", .timeLimit(.minutes(5)))
struct LegacyCallTests {
    private struct Pair {
        let alice: LegacyUser
        let bobby: LegacyUser
        let caller: LegacyApp
        let callee: LegacyApp

        /// Rings, and returns the room.
        func ring() async throws -> JSONValue {
            let room = try await self.caller.call("videoChat", ["from_user": "alice", "to_user": "bobby"])
            #expect(await self.callee.next("videoChat") == ["from_user": "alice", "room": room])
            return room
        }

        /// Rings and answers. Returns the room and the devices of both.
        func start() async throws -> (room: JSONValue, caller: JSONValue, callee: JSONValue) {
            let room = try await self.ring()
            self.caller.emit("__join", ["room": room])
            let first = await self.caller.next("_peers")
            self.callee.emit("__join", ["room": room])
            let second = await self.callee.next("_peers")
            let (caller, callee) = (first["you"] ?? .null, second["you"] ?? .null)
            #expect(first["connections"] == [] && second["connections"] == .array([caller]))
            #expect(await self.caller.next("_new_peer") == ["socketId": callee])
            return (room, caller, callee)
        }

        private func log() async throws -> [ChatEvent] {
            let page = try await self.alice.ownClient()
            let pair = try await page.ask(ChatVerbs.conversationOpen, OpenRequest(id: id("state"), user: UserName(prepared: "bobby")))
            return try await page.ask(ChatVerbs.history, HistoryRequest(conversation: pair.head.conversation, range: .newest)).events
        }

        /// Returns the state of the last call, as the log has it.
        func state() async throws -> JSONValue? { try await self.log().last { $0.kind == .call }?.body["state"] }

        /// Returns the user who reported the last state of a call; nil if the server did, for
        /// example because the call rang too long.
        func reporter() async throws -> String? { try await self.log().last { $0.kind == .callUpdate }?.sender?.rawValue }
    }

    private func withPair(_ body: (Pair) async throws -> Void) async throws {
        try await RealServer.withLegacy { server in
            let (alice, bobby) = (
                try await server.legacyUser("alice", from: "192.0.2.1"), try await server.legacyUser("bobby", from: "192.0.2.2")
            )
            try await body(Pair(alice: alice, bobby: bobby, caller: try await alice.connect(), callee: try await bobby.connect()))
        }
    }

    private static func offer(_ text: String) -> JSONValue { ["type": "offer", "sdp": .string(text)] }

    @Test func aCallIsNegotiatedAndEnded() async throws {
        try await self.withPair { pair in
            let (_, caller, callee) = try await pair.start()
            pair.callee.emit("__offer", ["sdp": Self.offer("v=0"), "socketId": caller])
            #expect(await pair.caller.next("_offer") == ["sdp": Self.offer("v=0"), "socketId": callee])
            pair.caller.emit("__answer", ["sdp": ["type": "answer", "sdp": "v=1"], "socketId": callee])
            #expect(await pair.callee.next("_answer") == ["sdp": ["type": "answer", "sdp": "v=1"], "socketId": caller])
            for label in [0, 1] as [Int64] {
                let candidate: JSONValue = ["id": "audio", "label": .integer(label), "candidate": "candidate:1"]
                pair.caller.emit(
                    "__ice_candidate", ["id": "audio", "label": .integer(label), "candidate": "candidate:1", "socketId": callee])
                let received = await pair.callee.next("_ice_candidate")
                for field in ["id", "label", "candidate"] { #expect(received[field] == candidate[field]) }
                #expect(received["socketId"] == caller)
            }
            #expect(try await pair.state() == "accepted")
            pair.caller.emit("closeRoom")
            #expect(await pair.callee.next("_remove_peer") == ["socketId": caller])
            #expect(await pair.callee.next("cancelVideoChat") == [:])
            #expect(try await pair.state() == "ended")
            // A further call is another one.
            _ = try await pair.start()
        }
    }

    @Test func aDeclinedCallEndsForTheCaller() async throws {
        try await self.withPair { pair in
            let room = try await pair.ring()
            pair.caller.emit("__join", ["room": room])
            _ = await pair.caller.next("_peers")
            pair.callee.emit("cancelVideoChat", ["room": room])
            #expect(await pair.caller.next("cancelVideoChat") == [:])
            #expect(try await pair.state() == "declined")
            #expect(try await pair.reporter() == "bobby")
        }
    }

    /// The caller ends the ring by each of the events of the apps, before and after it has joined.
    @Test(arguments: [("closeRoom", false), ("closeRoom", true), ("cancelVideoChat", false), ("cancelVideoChat", true)])
    func aCallerEndsTheRing(event: String, hasJoined: Bool) async throws {
        try await self.withPair { pair in
            let room = try await pair.ring()
            if hasJoined {
                pair.caller.emit("__join", ["room": room])
                _ = await pair.caller.next("_peers")
            }
            pair.caller.emit(event, ["room": room])
            #expect(await pair.callee.next("cancelVideoChat") == [:])
            #expect(try await pair.state() == "missed")
            #expect(try await pair.reporter() == "alice")
        }
    }

    @Test func aLostConnectionEndsTheCall() async throws {
        try await self.withPair { pair in
            let (_, caller, _) = try await pair.start()
            pair.caller.close()
            #expect(await pair.callee.next("_remove_peer") == ["socketId": caller])
            #expect(await pair.callee.next("cancelVideoChat") == [:])
            #expect(try await pair.state() == "ended")
        }
    }

    @Test func aLostCallerEndsTheRing() async throws {
        try await self.withPair { pair in
            _ = try await pair.ring()
            pair.caller.close()
            #expect(await pair.callee.next("cancelVideoChat") == [:])
            #expect(try await pair.state() == "missed")
        }
    }

    /// A call that one device answers stops ringing on the others of its user.
    @Test func anAnswerStopsTheOtherDevices() async throws {
        try await self.withPair { pair in
            let other = try await pair.bobby.connect()
            try await other.settle(as: "bobby")
            let room = try await pair.ring()
            #expect(await other.next("videoChat") == ["from_user": "alice", "room": room])
            pair.caller.emit("__join", ["room": room])
            _ = await pair.caller.next("_peers")
            pair.callee.emit("__join", ["room": room])
            _ = await pair.callee.next("_peers")
            #expect(await other.next("cancelVideoChat") == [:])
            #expect(!pair.callee.has("cancelVideoChat"))
        }
    }

    /// The old protocol has no busy state: a user in a call is called and declines.
    @Test func aThirdUserIsDeclined() async throws {
        try await self.withPair { pair in
            _ = try await pair.start()
            let carol = try await pair.alice.server.legacyUser("carol", from: "192.0.2.3")
            let third = try await carol.connect()
            let room = try await third.call("videoChat", ["from_user": "carol", "to_user": "bobby"])
            #expect(await pair.callee.next("videoChat") == ["from_user": "carol", "room": room])
            pair.callee.emit("cancelVideoChat", ["room": room])
            #expect(await third.next("cancelVideoChat") == [:])
            // The call of the other two continues.
            #expect(try await pair.state() == "accepted")
            #expect(!pair.caller.has("cancelVideoChat") && !pair.callee.has("_remove_peer"))
        }
    }

    @Test(
        arguments: [
            "{}", "null", #"{"to_user":"alice"}"#, #"{"to_user":"nobody"}"#, #"{"to_user":""}"#, #"{"to_user":5}"#,
            #"{"to_user":"bobby","from_user":"bobby"}"#, #"{"to_user":"bobby","from_user":"a b"}"#,
        ])
    func aRefusedCallRingsNowhere(argument: String) async throws {
        try await self.withPair { pair in
            pair.caller.emit("videoChat", try JSONValue(jsonString: argument))
            try await pair.caller.send("after", to: "bobby")
            _ = await pair.callee.next("chat")
            #expect(!pair.callee.has("videoChat"))
            _ = try await pair.ring()
        }
    }

    /// A user who is not in the conversation can neither join nor disturb its call.
    @Test func aStrangerHasNoPartInACall() async throws {
        try await self.withPair { pair in
            let (room, caller, callee) = try await pair.start()
            let carol = try await pair.alice.server.legacyUser("carol", from: "192.0.2.3")
            let stranger = try await carol.connect()
            for event in ["__join", "cancelVideoChat", "closeRoom"] { stranger.emit(event, ["room": room]) }
            for event in ["__offer", "__answer"] { stranger.emit(event, ["sdp": Self.offer("v=0"), "socketId": caller]) }
            stranger.emit("__ice_candidate", ["id": "a", "label": 0, "candidate": "c", "socketId": callee])
            try await stranger.settle(as: "carol")
            pair.callee.emit("__offer", ["sdp": Self.offer("v=9"), "socketId": caller])
            #expect(await pair.caller.next("_offer") == ["sdp": Self.offer("v=9"), "socketId": callee])
            #expect(!stranger.has("_peers") && !pair.caller.has("_new_peer") && !pair.callee.has("_ice_candidate"))
            #expect(try await pair.state() == "accepted")
        }
    }

    @Test(
        arguments: [
            ("__join", #"{"room":"x"}"#), ("__join", "{}"), ("__join", #"{"room":"0000000000001-1"}"#), ("__join", "null"),
            ("cancelVideoChat", "{}"), ("cancelVideoChat", #"{"room":"0000000000001-1"}"#), ("closeRoom", "5"),
            ("__offer", #"{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"x"}"#), ("__offer", "{}"), ("__ice_candidate", "null"),
        ])
    func anEventOfNoCallIsIgnored(event: String, argument: String) async throws {
        try await self.withPair { pair in
            pair.caller.emit(event, try JSONValue(jsonString: argument))
            try await pair.caller.settle(as: "alice")
            for name in ["_peers", "_new_peer", "_offer", "cancelVideoChat"] { #expect(!pair.caller.has(name) && !pair.callee.has(name)) }
            _ = try await pair.start()
        }
    }

    /// A call that has ended cannot be joined.
    @Test func anEndedCallIsNotJoined() async throws {
        try await self.withPair { pair in
            let room = try await pair.ring()
            pair.callee.emit("cancelVideoChat", ["room": room])
            #expect(await pair.caller.next("cancelVideoChat") == [:])
            for app in [pair.caller, pair.callee] { app.emit("__join", ["room": room]) }
            try await pair.caller.settle(as: "alice")
            try await pair.callee.settle(as: "bobby")
            #expect(!pair.caller.has("_peers") && !pair.callee.has("_peers"))
        }
    }
}
