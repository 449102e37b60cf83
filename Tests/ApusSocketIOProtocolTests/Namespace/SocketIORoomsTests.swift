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

    @Test func emptyRoomsMeansEverybody() {
        #expect(self.makeRooms().targets(rooms: [], excluding: []) == ["1", "2", "3"])
        #expect(self.makeRooms().targets(rooms: [], excluding: ["red"]) == ["3"])
    }

    @Test func socketInTwoRoomsIsReachedOnce() {
        #expect(self.makeRooms().targets(rooms: ["red", "blue"], excluding: []) == ["1", "2"])
        #expect(self.makeRooms().targets(rooms: ["red"], excluding: ["1"]) == ["2"])
        #expect(self.makeRooms().targets(rooms: ["nobody's"], excluding: []) == [])
    }

    @Test func roomWithoutMembersIsGone() {
        var rooms = self.makeRooms()
        #expect(rooms.roomCount == 5)
        rooms.leave("2", "blue")
        #expect(rooms.roomCount == 4)
        rooms.leaveAll("1")
        rooms.leaveAll("2")
        rooms.leaveAll("3")
        #expect(rooms.roomCount == 0)
        #expect(rooms.rooms(of: "1") == [])
    }

    @Test func leavingWhatWasNotJoinedChangesNothing() {
        var rooms = self.makeRooms()
        rooms.leave("3", "red")
        rooms.leave("9", "red")
        #expect(rooms.members(of: "red") == ["1", "2"])
    }
}
