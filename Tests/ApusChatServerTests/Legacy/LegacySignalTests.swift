import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatServer

@Suite struct LegacySignalTests {
    private let device = DeviceID(number: 5)

    @Test(arguments: [
        (
            "__offer", #"{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"d"}"#, "_offer",
            #"{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"D"}"#
        ),
        (
            "__answer", #"{"sdp":{"type":"answer","sdp":"v=1"},"socketId":"d"}"#, "_answer",
            #"{"sdp":{"type":"answer","sdp":"v=1"},"socketId":"D"}"#
        ),
        (
            "__ice_candidate", #"{"id":"audio","label":1,"candidate":"candidate:1","socketId":"d"}"#, "_ice_candidate",
            #"{"id":"audio","label":1,"candidate":"candidate:1","socketId":"D"}"#
        ),
    ])
    func anEventBecomesASignalAndAnEventAgain(sent: String, argument: String, event: String, expected: String) throws {
        let signal = try LegacySignal(event: sent, try JSONValue(jsonString: argument))
        let frame = try #require(LegacySignal(signal.data)).frame(from: self.device)
        #expect(frame.event == event)
        let text = expected.replacing("\"D\"", with: "\"\(self.device)\"")
        #expect(frame.argument == (try JSONValue(jsonString: text)))
    }

    @Test func joiningAndLeavingAreReported() {
        let socket: JSONValue = ["socketId": .string(self.device.rawValue)]
        #expect(LegacySignal(["type": "join"])?.frame(from: self.device) == LegacyFrame("_new_peer", socket))
        #expect(LegacySignal(["type": "leave"])?.frame(from: self.device) == LegacyFrame("_remove_peer", socket))
        let peers = LegacySignal.peers([DeviceID(number: 6)], you: self.device)
        #expect(peers.event == "_peers" && peers.argument["you"] == .string(self.device.rawValue))
        #expect(peers.argument["connections"] == [.string(DeviceID(number: 6).rawValue)])
        #expect(LegacySignal(["type": "join", "reply": true]) == .join)
        #expect(LegacySignal(["type": "mute"]) == nil)
        #expect(LegacySignal([:]) == nil)
    }

    @Test(arguments: [
        "{}", "null", #"{"sdp":"v=0"}"#, #"{"id":"a","label":-1,"candidate":"c"}"#, #"{"id":"a","label":1e30,"candidate":"c"}"#,
    ])
    func otherEventsAreRefused(text: String) throws {
        let value = try JSONValue(jsonString: text)
        for event in ["__offer", "__answer", "__ice_candidate", "__other"] {
            #expect(throws: LegacyRefusal.self) { try LegacySignal(event: event, value) }
        }
    }

    @Test(arguments: [
        "", "-", "abc", "0000000000001", "0000000000001-", "0000000000001-0", "0000000000001-x", "0000000000001-+1", "0000000000001-1-2",
    ])
    func onlyTheNameOfACallIsARoom(text: String) { #expect(LegacyRoom(text) == nil) }

    @Test func aRoomIsThePlaceOfItsCall() {
        let room = LegacyRoom(ConversationID(number: 9), 12)
        #expect(LegacyRoom(room.name) == room)
    }

    @Test func aRoomKnowsItsDevices() throws {
        var rooms = LegacyRooms()
        let room = LegacyRoom(ConversationID(number: 9), 12)
        let (alice, bobby) = (UserName(prepared: "alice"), UserName(prepared: "bobby"))
        #expect(rooms.join(room, self.device, of: alice) == [:])
        #expect(rooms.join(room, DeviceID(number: 6), of: bobby) == [self.device: alice])
        #expect(rooms.user(of: self.device, in: room) == alice)
        #expect(rooms.user(of: self.device, in: LegacyRoom(ConversationID(number: 9), 13)) == nil)
        for number in Int64(7)..<13 { _ = rooms.join(room, DeviceID(number: number), of: bobby) }
        #expect(rooms.join(room, DeviceID(number: 20), of: bobby) == nil)
        // A device that joins again is counted once.
        #expect(rooms.join(room, self.device, of: alice)?.count == 7)
        rooms.leave(room, self.device)
        #expect(rooms.user(of: self.device, in: room) == nil)
        rooms.close(room)
        #expect(rooms.user(of: DeviceID(number: 6), in: room) == nil)
    }
}
