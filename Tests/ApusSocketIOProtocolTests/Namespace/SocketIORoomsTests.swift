import ApusSocketIOProtocol
import Testing

@Suite struct SocketIORoomsTests {
    private func makeRooms() -> SocketIORooms {
        var rooms = SocketIORooms()
        for socket in ["1", "2", "3"] { rooms.join(socket, socket) }
        rooms.join("1", "red")
        rooms.join("2", "red")
        rooms.join("2", "blue")
        return rooms
    }

    @Test func noRoomsSelectsTheWholeNamespace() {
        #expect(self.makeRooms().members(of: .init(rooms: [], except: [])) == ["1", "2", "3"])
        #expect(self.makeRooms().members(of: .init(rooms: [], except: ["red"])) == ["3"])
    }

    @Test func socketInTwoRoomsIsReachedOnce() {
        #expect(self.makeRooms().members(of: .init(rooms: ["red", "blue"], except: [])) == ["1", "2"])
        #expect(self.makeRooms().members(of: .init(rooms: ["red"], except: ["1"])) == ["2"])
        #expect(self.makeRooms().members(of: .init(rooms: ["nobody's"], except: [])) == [])
    }

    /// docs/hazards.md, 26. A message to a room must not reach the members of a room with a similar
    /// name.
    @Test(arguments: [("\u{e9}", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}")])
    func roomsOfOtherBytesAreOtherRooms(one: String, other: String) {
        var rooms = SocketIORooms()
        rooms.join("1", one)
        let change = rooms.join("2", other)
        #expect(change == .memberAndRoom)
        #expect(rooms.members(of: one).sorted() == ["1"] && rooms.members(of: other).sorted() == ["2"])
        #expect(rooms.members(of: .init(rooms: [one, other], except: [other])).sorted() == ["1"])
        #expect(SocketIOTargets(rooms: [one]).include(memberOf: rooms.rooms(of: "2")) == false)
        rooms.join("3K", "3K")
        #expect(rooms.members(of: "3\u{212A}").isEmpty)
    }

    @Test func roomWithoutMembersIsRemoved() {
        var rooms = self.makeRooms()
        #expect(rooms.names.count == 5)
        rooms.leave("2", "blue")
        #expect(rooms.names.count == 4)
        rooms.leaveAll("1")
        rooms.leaveAll("2")
        rooms.leaveAll("3")
        #expect(rooms.names.count == 0)
        #expect(rooms.rooms(of: "1") == [])
    }

    @Test func firstAndLastMemberMakeAndEndARoom() {
        var rooms = self.makeRooms()
        #expect(rooms.join("1", "green") == .memberAndRoom)
        #expect(rooms.join("2", "green") == .member)
        #expect(rooms.join("2", "green") == .none)
        #expect(rooms.leave("1", "green") == .member)
        #expect(rooms.leave("1", "green") == .none)
        #expect(rooms.leave("2", "green") == .memberAndRoom)
    }

    /// The selection of all members agrees with the test of a single socket.
    @Test(arguments: [
        SocketIOTargets(), .init(rooms: ["red"]), .init(rooms: ["red", "blue"]), .init(rooms: ["3", "blue"], except: ["1"]),
        .init(except: ["red"]),
        .init(rooms: ["nobody's"]), .init(rooms: ["red"], except: ["red"]),
    ])
    func targetsOfOneAndOfAllAgree(targets: SocketIOTargets) {
        let rooms = self.makeRooms()
        let alone = ["1", "2", "3"].filter { targets.include(memberOf: rooms.rooms(of: $0)) }
        #expect(rooms.members(of: targets) == SocketIORoomNames(alone))
    }

    @Test func leavingAnUnjoinedRoomChangesNothing() {
        var rooms = self.makeRooms()
        rooms.leave("3", "red")
        rooms.leave("9", "red")
        #expect(rooms.members(of: "red") == ["1", "2"])
    }
}
