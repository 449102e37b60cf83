import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// A batch with one change of one kind is a batch: it takes a number and its effect is read. An
/// omitted kind would make the storage answer a request without storing its effect.
@Suite struct SingleChangeTests {
    private typealias Batch = (name: String, change: (inout Changes) -> Void, isApplied: () throws -> Bool)

    /// Commits each batch, expects one number for each, and expects its effect only afterwards.
    private func expect(_ batches: [Batch], in world: StorageWorld) throws {
        for (name, change, isApplied) in batches {
            let before = try #require(Int64(try world.storage.position().position))
            #expect(try !isApplied(), "\(name) before the batch")
            #expect(try world.write(change) == before + 1, "\(name)")
            #expect(try world.storage.position().position == "\(before + 1)", "\(name)")
            #expect(try isApplied(), "\(name)")
        }
    }

    @Test(arguments: StorageKind.allCases) func eachKindOfChangeAlone(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(2, to: group, by: world.ann)
        let event = EventAddress(group, 1)
        let blob = try #require(BlobID(String(repeating: "1", count: 64)))
        let id = try #require(ClientID("id"))
        let request = RequestAddress(world.ann, id)
        let scheduled = ScheduledRow(
            address: ScheduledAddress(world.ann, id), conversation: group, kind: .text, body: "{}", sendAt: 5, hash: RequestHash(1, 2, 3, 4)
        )
        var counters = try world.counters(group)
        counters.epoch = 9
        var target = try #require(try world.event(event))
        target.isPinned = true
        var member = try world.member(world.bob, group)
        member.folders = 3
        let changedMember = member
        var annotation = AnnotationRow(address: AnnotationAddress(event, world.bob), n: 1)
        annotation.votes = 2
        let changedAnnotation = annotation
        var account = try #require(try world.storage.accounts([world.bob]).first)
        account.about = "about"
        let changedAccount = account
        var contact = ContactRow(address: ContactAddress(owner: world.ann, peer: world.eve))
        contact.isBlocked = true
        let changedContact = contact
        let changedTarget = target
        let changedCounters = counters
        try self.expect(
            [
                (
                    "conversations", { $0.conversations = [ConversationChange(key: group, counters: changedCounters)] },
                    { try world.counters(group).epoch == 9 }
                ),
                (
                    "events",
                    { $0.events = [EventRow(conversation: group, seq: 3, n: 3, sender: world.ann, at: 1, kind: .text, body: "{}")] },
                    { try world.event(EventAddress(group, 3)) != nil }
                ),
                ("targets", { $0.targets = [changedTarget] }, { try world.event(event)?.isPinned == true }),
                ("members", { $0.members = [changedMember] }, { try world.member(world.bob, group).folders == 3 }),
                (
                    "folderRemovals", { $0.folderRemovals = [FolderRemoval(user: world.bob, folders: 1)] },
                    { try world.member(world.bob, group).folders == 2 }
                ),
                (
                    "annotations", { $0.annotations = [changedAnnotation] },
                    { try world.storage.events(in: group, .from(1), as: world.bob, limit: 1).first?.own?.votes == 2 }
                ),
                (
                    "blobReferences", { $0.blobReferences = [BlobReference(event: event, blob: blob)] },
                    { try world.storage.mayRead(BlobNeed(user: world.bob, blob: blob)) }
                ),
                (
                    "blanks", { $0.blanks = [EventBlank(address: event, state: .recalled)] },
                    { try world.event(event)?.state == .recalled }
                ),
                (
                    "requests",
                    {
                        $0.requests = [
                            RequestRow(
                                address: request, hash: RequestHash(1, 2, 3, 4),
                                answer: StoredAnswer(conversation: group, seq: 1, n: 1, at: 1), at: 1)
                        ]
                    }, { try world.facts { $0.requests = [request] }.requests[request] != nil }
                ),
                ("accounts", { $0.accounts = [changedAccount] }, { try world.storage.accounts([world.bob]).first?.about == "about" }),
                (
                    "contacts", { $0.contacts = [changedContact] },
                    { try world.storage.contacts(of: world.ann, after: nil, limit: 9).count == 1 }
                ),
                (
                    "links", { $0.links = [LinkRow(code: "code", conversation: group, creator: world.ann, createdAt: 1)] },
                    { try world.storage.link("code") != nil }
                ),
                ("scheduled", { $0.scheduled = [scheduled] }, { try world.storage.scheduled(of: world.ann, limit: 9) == [scheduled] }),
                ("unscheduled", { $0.unscheduled = [scheduled.address] }, { try world.storage.scheduled(of: world.ann, limit: 9).isEmpty }),
                (
                    "reports", { $0.reports = [ReportRow(reporter: world.ann, subject: world.bob, event: nil, reason: "spam", at: 7)] },
                    {
                        if let memory = world.storage as? MemoryStorage { return memory.reports.map(\.at) == [7] }
                        return try (world.storage as? SQLiteStorage)?.reports(isOpen: true, before: .max, limit: 9).first?.report.at == 7
                    }
                ),
            ], in: world)
    }

    @Test(arguments: StorageKind.allCases) func eachKindOfSignInChangeAlone(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let user = world.ann
        let device = DeviceRow(key: DeviceKey(4), user: user, name: "d", platform: "web", at: 1)
        let recovery = CodeRow(user: user, hash: [1], purpose: .recovery)
        let reset = CodeRow(user: user, hash: [2], purpose: .reset)
        let blob = BlobRow(id: try #require(BlobID(String(repeating: "2", count: 64))), size: 5, type: "image/png", createdAt: 1)
        try self.expect(
            [
                (
                    "credentials", { $0.credentials.credentials = [CredentialRow(user: user, password: "p", passwordChangedAt: 1)] },
                    { try storage.credential(of: user) != nil }
                ),
                ("removedCredentials", { $0.credentials.removedCredentials = [user] }, { try storage.credential(of: user) == nil }),
                ("devices", { $0.credentials.devices = [device] }, { try storage.device(device.key) == device }),
                (
                    "pushes", { $0.credentials.pushes = [(device.key, "{}")] },
                    { try storage.pushDevices(after: DeviceKey(0), limit: 9).count == 1 }
                ),
                ("removedDevices", { $0.credentials.removedDevices = [device.key] }, { try storage.device(device.key) == nil }),
                ("codes", { $0.credentials.codes = [recovery, reset] }, { try storage.code([2], of: user) == reset }),
                ("clearedCodes", { $0.credentials.clearedCodes = [(user, .recovery)] }, { try storage.code([1], of: user) == nil }),
                ("removedCodes", { $0.credentials.removedCodes = [reset] }, { try storage.code([2], of: user) == nil }),
                (
                    "invitations", { $0.credentials.invitations = [InvitationRow(hash: [3], createdAt: 1, expiresAt: 2)] },
                    { try storage.invitation([3]) != nil }
                ),
                ("uploads", { $0.credentials.uploads = [(blob, user)] }, { try storage.uploadedBytes(of: user) == 5 }),
                ("collectedBlobs", { $0.credentials.collectedBlobs = [blob.id] }, { try storage.uploadedBytes(of: user) == 0 }),
            ], in: world)
    }
}
