import ApusChatCore
import ApusChatStorage
import Testing

@Suite struct ReceivedPositionsTests {
    private let member = MemberAddress(ConversationKey(1), UserKey(2))
    private let phone = DeviceKey(3)
    private let laptop = DeviceKey(4)

    private func note(_ n: Int64, on device: DeviceKey, _ positions: inout ReceivedPositions) -> Bool {
        positions.received(n, by: self.member, on: device)
    }

    @Test func theFirstDeviceThatReceivesAMessageCounts() {
        var positions = ReceivedPositions()
        #expect(positions.last(of: self.member) == 0)
        #expect(self.note(5, on: self.phone, &positions))
        #expect(!self.note(5, on: self.laptop, &positions))
        #expect(!self.note(4, on: self.phone, &positions), "a late request takes nothing back")
        #expect(self.note(6, on: self.laptop, &positions))
        #expect(positions.last(of: self.member) == 6)
        #expect(positions.last(of: self.member, on: self.phone) == 5)
        #expect(positions.last(of: self.member, on: self.laptop) == 6)
        #expect(positions.last(of: MemberAddress(ConversationKey(1), UserKey(9))) == 0)
    }

    @Test func theNumberOfMembersIsBounded() {
        var positions = ReceivedPositions(capacity: 2)
        let members = (1...5 as ClosedRange<Int64>).map { MemberAddress(ConversationKey($0), UserKey(2)) }
        for member in members.prefix(4) { _ = positions.received(1, by: member, on: self.phone) }
        _ = positions.received(2, by: members[0], on: self.phone)
        #expect(positions.last(of: members[0]) == 2, "one that is told again stays")
        _ = positions.received(1, by: members[4], on: self.phone)
        #expect(members.map { positions.last(of: $0) }.filter { $0 > 0 }.count <= 4)
        #expect(positions.last(of: members[4]) == 1)
        #expect(positions.last(of: members[1]) == 0)
    }

    @Test func theNumberOfDevicesIsBounded() {
        var positions = ReceivedPositions(devicesOfMember: 2)
        for device in 1...9 as ClosedRange<Int64> { _ = positions.received(device, by: self.member, on: DeviceKey(device)) }
        #expect(positions.last(of: self.member) == 9)
        #expect(positions.last(of: self.member, on: DeviceKey(8)) == 8)
        #expect(positions.last(of: self.member, on: DeviceKey(7)) == 0)
    }
}
