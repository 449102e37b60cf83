import ApusChatProtocol
import ApusChatStorage
import Testing

/// Positions, and the conversations that changed after them.
@Suite struct ChangeTokenTests {
    private func changed(_ world: StorageWorld, _ user: UserKey, after position: SyncPosition, size: Int = 100) throws -> [Int64]? {
        var keys: [Int64] = []
        var cursor: ConversationKey?
        repeat {
            guard case .page(let heads, let next) = try world.storage.changes(of: user, after: position, cursor: cursor, limit: size) else {
                return nil
            }
            keys += heads.map(\.conversation.key.rawValue)
            cursor = next
        } while cursor != nil
        return keys
    }

    @Test(arguments: StorageKind.allCases) func changedHeadsAreListedInKeyOrder(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let groups = try (1...5).map { try world.group($0, world.ann, world.bob) }
        let start = try world.storage.position()
        #expect(try self.changed(world, world.ann, after: start) == [])
        for index in [4, 0, 2] { try world.append(to: groups[index], by: world.bob) }
        for size in 1...4 { #expect(try self.changed(world, world.ann, after: start, size: size) == [1, 3, 5]) }
        let later = try world.storage.position()
        #expect(later != start)
        try world.append(to: groups[1], by: world.bob)
        #expect(try self.changed(world, world.ann, after: later) == [2])
        #expect(try self.changed(world, world.eve, after: start) == [])
    }

    @Test(arguments: StorageKind.allCases) func readPositionsChangeTheOwnHeadOnly(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(to: group, by: world.ann)
        let position = try world.storage.position()
        try world.modify(world.bob, group) { $0.readN = 1 }
        #expect(try self.changed(world, world.ann, after: position) == [])
        #expect(try self.changed(world, world.bob, after: position) == [1])
    }

    @Test(arguments: StorageKind.allCases) func aGoneConversationIsATombstoneOnce(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let position = try world.storage.position()
        try world.modify(world.bob, group) { $0.isGone = true }
        guard case .page(let heads, nil) = try world.storage.changes(of: world.bob, after: position, cursor: nil, limit: 9) else {
            Issue.record("one page expected")
            return
        }
        #expect(heads.map(\.member.isGone) == [true])
        let later = try world.storage.position()
        try world.append(to: group, by: world.ann)
        #expect(try self.changed(world, world.bob, after: later) == [])
    }

    @Test(arguments: StorageKind.allCases) func unknownPositionsAreAnsweredResync(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let position = try world.storage.position()
        let number = try #require(Int64(position.position))
        let strange = [
            SyncPosition(epoch: "other", position: position.position), SyncPosition(epoch: position.epoch, position: "\(number + 1)"),
            SyncPosition(epoch: position.epoch, position: "x"), SyncPosition(epoch: position.epoch, position: "-1"),
        ]
        for position in strange { #expect(try self.changed(world, world.ann, after: position) == nil) }
        #expect(try self.changed(world, world.ann, after: position) == [])
        #expect(SyncPosition(position.description) == position)
    }
}
