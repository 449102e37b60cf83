import ApusChatProtocol
import ApusChatStorage
import Testing

/// Sign-ins and uploads, with each storage.
@Suite struct CredentialTests {
    private func reads(_ world: StorageWorld) throws -> any AccountStorage { try #require(world.storage as? any AccountStorage) }

    @Test(arguments: StorageKind.allCases) func aCredentialIsReplaced(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let reads = try self.reads(world)
        var row = CredentialRow(user: world.ann, password: "one", passwordChangedAt: 1)
        try world.write { $0.credentials.credentials = [row] }
        row.password = "two"
        row.totpSecret = [1, 2]
        row.totpState = .on
        row.totpStep = 7
        try world.write { $0.credentials.credentials = [row] }
        #expect(try reads.credential(of: world.ann) == row)
        #expect(try reads.credential(of: world.bob) == nil)
        try world.write { $0.credentials.removedCredentials = [world.ann] }
        #expect(try reads.credential(of: world.ann) == nil)
    }

    @Test(arguments: StorageKind.allCases) func devicesAreListedLastUsedFirst(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let reads = try self.reads(world)
        var first = DeviceRow(key: DeviceKey(1), user: world.ann, name: "a", platform: "web", at: 1)
        let second = DeviceRow(key: DeviceKey(2), user: world.ann, name: "b", platform: "ios", at: 2)
        let other = DeviceRow(key: DeviceKey(3), user: world.bob, name: "c", platform: "ios", at: 3)
        try world.write { $0.credentials.devices = [first, second, other] }
        #expect(try reads.devices(of: world.ann, limit: 9) == [second, first])
        first.seenAt = 5
        first.generation = 4
        first.isConfirmed = false
        first.capabilities = ["call.audio"]
        try world.write { $0.credentials.devices = [first] }
        #expect(try reads.devices(of: world.ann, limit: 1) == [first])
        #expect(try reads.device(DeviceKey(1)) == first)
        try world.write { $0.credentials.removedDevices = [DeviceKey(1)] }
        #expect(try reads.device(DeviceKey(1)) == nil)
    }

    @Test(arguments: StorageKind.allCases) func codesBelongToAUserAndAPurpose(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let reads = try self.reads(world)
        let recovery = CodeRow(user: world.ann, hash: [1], purpose: .recovery)
        let reset = CodeRow(user: world.ann, hash: [2], purpose: .reset, expiresAt: 9)
        try world.write { $0.credentials.codes = [recovery, reset] }
        #expect(try reads.code([1], of: world.ann) == recovery)
        #expect(try reads.code([1], of: world.bob) == nil)
        try world.write { $0.credentials.clearedCodes = [(world.ann, .recovery)] }
        #expect(try reads.code([1], of: world.ann) == nil)
        #expect(try reads.code([2], of: world.ann) == reset)
        try world.write { $0.credentials.removedCodes = [reset] }
        #expect(try reads.code([2], of: world.ann) == nil)
    }

    @Test(arguments: StorageKind.allCases) func aUsedUpInvitationIsRemoved(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let reads = try self.reads(world)
        var row = InvitationRow(hash: [5], createdAt: 1, expiresAt: 9, usesLeft: 2)
        try world.write { $0.credentials.invitations = [row] }
        #expect(try reads.invitation([5]) == row)
        row.usesLeft = 0
        try world.write { $0.credentials.invitations = [row] }
        #expect(try reads.invitation([5]) == nil)
    }

    @Test(arguments: StorageKind.allCases) func bytesAreCountedOnceAndReleased(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let reads = try self.reads(world)
        let id = try #require(BlobID(String(repeating: "a", count: 64)))
        let avatar = try #require(BlobID(String(repeating: "b", count: 64)))
        let blob = BlobRow(id: id, size: 10, type: "image/png", width: 2, height: 3, createdAt: 1)
        let picture = BlobRow(id: avatar, size: 7, type: "image/png", createdAt: 1)
        try world.write { $0.credentials.uploads = [(blob, world.ann), (picture, world.ann)] }
        try world.write { $0.credentials.uploads = [(blob, world.ann), (blob, world.bob)] }
        #expect(try reads.blob(id) == blob)
        #expect(try reads.uploadedBytes(of: world.ann) == 17)
        #expect(try reads.uploadedBytes(of: world.bob) == 10)
        #expect(try reads.mayRead(BlobNeed(user: world.bob, blob: id)))
        var account = try #require(try reads.accounts([world.ann]).first)
        account.avatar = avatar
        try world.write { $0.accounts = [account] }
        #expect(try reads.orphans(before: 1, after: 0, limit: 9).blobs.isEmpty)
        #expect(try reads.orphans(before: 2, after: 0, limit: 9) == OrphanPage(blobs: [id], next: nil))
        try world.write { $0.credentials.collectedBlobs = [id, avatar] }
        #expect(try reads.blob(id) == nil)
        #expect(try reads.blob(avatar) == picture)
        #expect(try reads.uploadedBytes(of: world.ann) == 7)
        #expect(try reads.uploadedBytes(of: world.bob) == 0)
        #expect(try !reads.mayRead(BlobNeed(user: world.bob, blob: id)))
    }
}
