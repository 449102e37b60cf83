import ApusChatProtocol
import ApusChatStorage
import Testing

/// Each row is read as it was written, with the smallest and with the largest values.
@Suite struct RoundTripTests {
    private static let text = "日本 \u{1F469}\u{200D}\u{1F4BB} e\u{301} \u{0} '\";--"
    private static let big = Int64(1) << 53

    @Test(arguments: StorageKind.allCases) func aCredential(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        for state in [TOTPState.off, .pending, .on] {
            for (secret, step) in [([], 0), ([0], .max), ([UInt8](0...255), .min)] as [([UInt8], Int64)] {
                var row = CredentialRow(user: world.ann, password: Self.text, passwordChangedAt: step)
                (row.totpSecret, row.totpState, row.totpStep) = (secret, state, step)
                try world.write { $0.credentials.credentials = [row] }
                #expect(try storage.credential(of: world.ann) == row)
            }
        }
    }

    @Test(arguments: StorageKind.allCases) func aDevice(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        var row = DeviceRow(key: DeviceKey(.max), user: world.ann, name: "", platform: "", at: 0)
        try world.write { $0.credentials.devices = [row] }
        #expect(try storage.device(row.key) == row)
        (row.name, row.platform, row.capabilities, row.address) = (Self.text, "web", ["", "call.audio", Self.text], "2001:db8::1")
        (row.seenAt, row.rotatedAt, row.generation, row.isConfirmed) = (.max, 7, 1 << 53, false)
        try world.write { $0.credentials.devices = [row] }
        #expect(try storage.device(row.key) == row)
    }

    /// A change of a device keeps its push subscription, and a removed device has none.
    @Test(arguments: StorageKind.allCases) func aPushSubscription(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        var device = DeviceRow(key: DeviceKey(5), user: world.ann, name: "a", platform: "web", at: 1)
        func pushes() throws -> [PushDeviceRow] { try storage.pushDevices(of: world.ann, limit: 9) }
        let row = PushDeviceRow(key: device.key, user: world.ann, subscription: Self.text)
        try world.write { $0.credentials.pushes = [(device.key, Self.text)] }
        #expect(try pushes().isEmpty, "a device that does not exist")
        try world.write { changes in
            changes.credentials.devices = [device]
            changes.credentials.pushes = [(device.key, Self.text)]
        }
        #expect(try pushes() == [row])
        device.name = "b"
        try world.write { $0.credentials.devices = [device] }
        #expect(try pushes() == [row])
        #expect(try storage.pushDevices(of: world.bob, limit: 9).isEmpty)
        try world.write { $0.credentials.pushes = [(device.key, nil)] }
        #expect(try pushes().isEmpty)
        try world.write { $0.credentials.pushes = [(device.key, "again")] }
        try world.write { $0.credentials.removedDevices = [device.key] }
        try world.write { $0.credentials.devices = [device] }
        #expect(try pushes().isEmpty, "the device with the same key is another one")
    }

    @Test(arguments: StorageKind.allCases) func aCode(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        for (index, time) in [Int64.min, 0, .max].enumerated() {
            for purpose in [CodeRow.Purpose.recovery, .reset] {
                let row = CodeRow(user: world.ann, hash: [UInt8(index), 0, 255], purpose: purpose, expiresAt: time)
                try world.write { $0.credentials.codes = [row] }
                #expect(try storage.code(row.hash, of: world.ann) == row)
            }
        }
        #expect(try storage.code([0, 0], of: world.ann) == nil, "a part of a hash")
    }

    @Test(arguments: StorageKind.allCases) func anInvitation(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        for (hash, uses) in [([0], 1), ([UInt8](repeating: 255, count: 32), .max)] as [([UInt8], Int64)] {
            let row = InvitationRow(hash: hash, createdAt: .min, expiresAt: .max, usesLeft: uses)
            try world.write { $0.credentials.invitations = [row] }
            #expect(try storage.invitation(hash) == row)
        }
        try world.write { $0.credentials.invitations = [InvitationRow(hash: [0], createdAt: 1, expiresAt: 2, usesLeft: -1)] }
        #expect(try storage.invitation([0]) == nil, "no use is left")
    }

    /// A blob keeps the properties of its first upload.
    @Test(arguments: StorageKind.allCases) func aBlob(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let id = try #require(BlobID(String(repeating: "d", count: 64)))
        let row = BlobRow(
            id: id, size: Self.big, type: "video/mp4", width: 1_920, height: 1_080, createdAt: 7, duration: 61_000, thumb: "LEHV6nWB2yk8")
        try world.write { $0.credentials.uploads = [(row, world.ann)] }
        #expect(try storage.blob(id) == row)
        #expect(try storage.uploads(of: world.ann, after: 0, limit: 9).blobs == [row])
        let second = BlobRow(id: id, size: 1, type: "image/png", createdAt: 8)
        try world.write { $0.credentials.uploads = [(second, world.bob)] }
        #expect(try storage.blob(id) == row)
        #expect(try storage.uploads(of: world.bob, after: 0, limit: 9).blobs == [row])
    }

    /// A reference can precede the upload. It makes no blob.
    @Test(arguments: StorageKind.allCases) func aReferenceIsNotAUpload(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let group = try world.group(1, world.ann)
        let id = try #require(BlobID(String(repeating: "e", count: 64)))
        try world.append(to: group, by: world.ann) { event, changes in
            changes.blobReferences = [BlobReference(event: event.address, blob: id)]
        }
        #expect(try storage.blob(id) == nil)
        #expect(try storage.uploads(of: world.ann, after: 0, limit: 9).blobs.isEmpty)
        let row = BlobRow(id: id, size: 3, type: "image/png", createdAt: 8)
        try world.write { $0.credentials.uploads = [(row, world.bob)] }
        #expect(try storage.blob(id) == row && storage.orphans(before: .max, after: 0, limit: 9).blobs.isEmpty)
    }

    @Test(arguments: StorageKind.allCases) func aLink(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        for (index, role) in [MemberRole.guest, .reader, .member, .admin].enumerated() {
            var row = LinkRow(code: "code\(index)", conversation: group, creator: world.ann, createdAt: 3, role: role)
            try world.write { $0.links = [row] }
            #expect(try world.storage.link(row.code)?.link == row)
            (row.expiresAt, row.usesLeft, row.used, row.needsApproval, row.isRevoked) = (.max, 0, Self.big, true, true)
            try world.write { $0.links = [row] }
            #expect(try world.storage.link(row.code)?.link == row)
            #expect(try world.storage.link(row.code)?.conversation.key == group)
        }
        #expect(try world.storage.link("code") == nil && world.storage.link("CODE0") == nil)
    }

    @Test(arguments: StorageKind.allCases) func aContact(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for relation in [ContactRelation.none, .asked, .requested, .friend] {
            for isBlocked in [false, true] {
                var row = ContactRow(address: ContactAddress(owner: world.ann, peer: world.bob))
                (row.relation, row.isBlocked, row.alias, row.text, row.at) = (relation, isBlocked, Self.text, Self.text, .max)
                row.changed = try world.write { $0.contacts = [row] }
                #expect(try world.storage.contacts(of: world.ann, after: nil, limit: 9) == [row])
                let facts = try world.facts { needs in
                    needs.contacts = [row.address, row.address.reversed]
                    needs.contactCounts = [world.ann, world.bob]
                }
                #expect(facts.contacts[row.address] == row && facts.contacts[row.address.reversed] == nil)
                let counts = ContactCounts(contacts: relation == .none ? 0 : 1, blocked: isBlocked ? 1 : 0)
                #expect(facts.contactCounts[world.ann] == counts && facts.contactCounts[world.bob] == ContactCounts())
            }
        }
    }

    @Test(arguments: StorageKind.allCases) func aScheduledMessage(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for (index, eventKind) in [EventKind.text, .poll, EventKind(rawValue: "x.custom")].enumerated() {
            var row = ScheduledRow(
                address: ScheduledAddress(world.ann, try #require(ClientID("id\(index)"))), conversation: ConversationKey(.max),
                kind: eventKind, body: Self.text, sendAt: .max, hash: RequestHash(.max, 0, 1, .max))
            (row.ref, row.thread, row.isSilent, row.failure) = (Self.big, 7, index % 2 == 1, index == 2 ? Self.text : "")
            try world.write { $0.scheduled = [row] }
            #expect(try world.facts { $0.scheduled = [row.address] }.scheduled[row.address] == row)
        }
    }

    @Test(arguments: StorageKind.allCases) func anAccount(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let avatar = try #require(BlobID(String(repeating: "f", count: 64)))
        var row = try #require(try world.storage.accounts([world.ann]).first)
        for audience in [Audience.all, .contacts, .none] {
            for isOn in [true, false] {
                (row.privacy.messages, row.privacy.add, row.privacy.lastSeen) = (audience, audience, audience)
                (row.privacy.avatar, row.privacy.find, row.privacy.receipts, row.privacy.typing) = (audience, audience, isOn, isOn)
                row.quietHours = isOn ? QuietHours(from: 0, until: 0) : nil
                row.folders = isOn ? [FolderRow(Folder(name: Self.text, filter: "unread"), slot: 63)] : []
                (row.avatar, row.about, row.statusText) = (isOn ? avatar : nil, Self.text, isOn ? Self.text : "")
                row.state = isOn ? .suspended : .active
                row.changed = try world.write { $0.accounts = [row] }
                #expect(try world.storage.accounts([world.ann]) == [row])
            }
        }
    }

    @Test(arguments: StorageKind.allCases) func aConversation(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let avatar = try #require(BlobID(String(repeating: "f", count: 64)))
        for (index, kind) in [ConversationKind.own, .pair, .group, .channel].enumerated() {
            let key = ConversationKey(500 + Int64(index))
            var change = world.new(key, kind) { row in
                if kind == .pair { row.pair = PairAddress(UserKey(700), UserKey(3)) }
                (row.profile.title, row.profile.about, row.profile.avatar) = (Self.text, Self.text, avatar)
            }
            change.counters.memberCount = 1
            try world.write { $0.conversations = [change] }
            var row = try #require(change.row)
            row.counters = change.counters
            var found = try #require(try world.facts { $0.conversations = [key] }.conversations[key])
            (row.changed, found.changed) = (0, 0)
            #expect(found == row)
            // New counters leave the row, and a row without an avatar removes it.
            change.row?.profile.avatar = nil
            change.row?.settings.expire = 60
            (change.counters.lastSeq, change.counters.lastN, change.counters.lastAt) = (Self.big, Self.big - 1, Self.big)
            try world.write { $0.conversations = [ConversationChange(key: key, counters: change.counters)] }
            found = try #require(try world.facts { $0.conversations = [key] }.conversations[key])
            #expect(found.profile == row.profile && found.counters == change.counters)
            try world.write { $0.conversations = [change] }
            found = try #require(try world.facts { $0.conversations = [key] }.conversations[key])
            #expect(found.profile.avatar == nil && found.settings.expire == 60 && found.counters == change.counters)
        }
        #expect(try world.storage.pair(PairAddress(UserKey(3), UserKey(700))) == ConversationKey(501))
        #expect(try world.storage.pair(PairAddress(UserKey(3), UserKey(701))) == nil)
    }

    /// A command of the batch that sent a message can change it. The storage receives one row.
    @Test(arguments: StorageKind.allCases) func aMessageThatIsChangedInItsBatch(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let changes: [(inout EventRow) -> Void] = [
            { $0.isPinned = true }, { $0.isClosed = true }, { $0.reactions = [ReactionCount(key: "+", count: 2)] },
            { ($0.replyCount, $0.lastReply) = (1, 9) }, { ($0.votes, $0.allowsManyVotes, $0.hidesVoters) = ([1, 0], true, true) },
            { ($0.state, $0.original, $0.editedAt, $0.editSeq) = (.edited, "{}", 5, 6) },
            { ($0.closesAt, $0.expiresAt, $0.mentionsAll) = (7, 8, true) },
        ]
        for change in changes {
            var written: EventRow?
            try world.append(to: group, by: world.ann, kind: .poll) { event, _ in
                change(&event)
                written = event
            }
            let row = try #require(written)
            #expect(try world.event(row.address) == row)
        }
        #expect(try world.head(world.bob, group)?.pins == [1])
        #expect(try world.seqs(group, .pinned, as: world.bob) == [1])
        try world.change(EventAddress(group, 1)) { $0.isPinned = false }
        #expect(try world.head(world.bob, group)?.pins == [])
    }
}
