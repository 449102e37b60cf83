import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The order in which the changes of one batch take effect.
@Suite struct ChangeOrderTests {
    private static let blob = String(repeating: "5a", count: 32)

    // MARK: Events

    /// Blanks are applied after all other changes of events, whatever the batch also does with the
    /// message.
    @Test(arguments: StorageKind.allCases) func aBlankIsTheLastChangeOfAnEvent(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let blob = try #require(BlobID(Self.blob))
        try world.append(to: group, by: world.ann) { event, _ in event.mentions = [world.bob] }
        let address = EventAddress(group, 1)
        var target = try #require(try world.event(address))
        (target.body, target.state, target.editedAt, target.isPinned) = (#"{"text":"edited"}"#, .edited, 5, true)
        target.reactions = [ReactionCount(key: "+", count: 1)]
        var annotation = AnnotationRow(address: AnnotationAddress(address, world.bob), n: 1)
        (annotation.reactions, annotation.isHidden) = (["+"], true)
        let hidden = annotation
        var reaction = AnnotationRow(address: AnnotationAddress(address, world.ann), n: 1)
        reaction.reactions = ["+"]
        let visible = reaction
        let changed = target
        try world.append(to: group, by: world.ann, kind: .edit, ref: 1) { _, changes in
            changes.targets = [changed]
            changes.annotations = [hidden, visible]
            changes.blobReferences = [BlobReference(event: address, blob: blob)]
            changes.blanks = [EventBlank(address: address, state: .expired)]
        }
        let event = try #require(try world.event(address))
        #expect(event.state == .expired && event.body.isEmpty && event.reactions.isEmpty && !event.isPinned)
        #expect(try world.event(EventAddress(group, 2))?.state == .expired, "the edit of the same batch")
        let facts = try world.facts { $0.annotations = [hidden.address, visible.address] }
        #expect(facts.annotations[hidden.address]?.isHidden == true && facts.annotations[hidden.address]?.reactions == [])
        #expect(facts.annotations[visible.address] == nil)
        #expect(try !world.storage.mayRead(BlobNeed(user: world.ann, blob: blob)))
        #expect(try world.head(world.bob, group)?.mentions == 0 && world.head(world.ann, group)?.pins == [])
    }

    /// A message can be recalled in the batch that sends it.
    @Test(arguments: StorageKind.allCases) func aNewEventIsBlanked(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        for isBlankAlready in [false, true] {
            try world.append(to: group, by: world.ann) { event, changes in
                (event.mentionsAll, event.expiresAt, event.isPinned, event.clientID) = (true, 9, true, ClientID("m\(event.seq)"))
                event.hash = RequestHash(1, 2, 3, 4)
                if isBlankAlready { event.blank(.recalled) }
                changes.blanks = [EventBlank(address: event.address, state: .recalled)]
            }
            let address = EventAddress(group, try world.counters(group).lastSeq)
            let event = try #require(try world.event(address))
            #expect(event.state == .recalled && event.body.isEmpty && event.expiresAt == 0 && !event.isPinned)
            #expect(try world.head(world.bob, group)?.mentions == 0 && world.head(world.bob, group)?.pins == [])
            #expect(try world.storage.expired(at: .max, limit: 9) == [])
            // A retry of the message is answered.
            let send = SendAddress(group, world.ann, try #require(ClientID("m\(address.seq)")))
            #expect(try world.facts { $0.sends = [send] }.sends[send]?.seq == address.seq)
        }
    }

    /// The last state of two blanks of one event remains, as after an erasure of an expired
    /// message.
    @Test(arguments: StorageKind.allCases) func aBlankEventIsBlankedAgain(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(2, to: group, by: world.ann)
        let address = EventAddress(group, 1)
        for state in [EventState.expired, .recalled, .erased] {
            try world.write { $0.blanks = [EventBlank(address: address, state: state)] }
            #expect(try world.event(address)?.state == state)
        }
        try world.write { changes in
            changes.blanks = [EventBlank(address: address, state: .recalled), EventBlank(address: address, state: .expired)]
        }
        #expect(try world.event(address)?.state == .expired)
        #expect(try world.event(EventAddress(group, 2))?.state == .normal)
    }

    /// The blank of an event that does not exist has no effect.
    @Test(arguments: StorageKind.allCases) func aBlankOfAMissingEventHasNoEffect(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(to: group, by: world.ann)
        let before = try world.event(EventAddress(group, 1))
        for seq in [-1, 0, 2, 1 << 40] as [Int64] {
            try world.write { $0.blanks = [EventBlank(address: EventAddress(group, seq), state: .recalled)] }
        }
        #expect(try world.event(EventAddress(group, 1)) == before)
        #expect(try world.seqs(group, .from(1), as: world.ann) == [1])
    }

    /// A refused batch leaves nothing, also if its other changes come first.
    @Test(arguments: StorageKind.allCases) func aRefusedBatchWritesNothing(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(to: group, by: world.ann)
        let before = (try world.storage.position(), try world.counters(group))
        for seqs in [[3], [1], [2, 4], [2, 2], [0], [-1], [2, 3, 3]] as [[Int64]] {
            let error = #expect(throws: StorageError.self, "\(seqs)") {
                try world.write { changes in
                    var counters = before.1
                    (counters.lastSeq, counters.epoch) = (9, 9)
                    changes.conversations = [ConversationChange(key: group, counters: counters), world.new(ConversationKey(2), .group)]
                    changes.accounts = [
                        AccountRow(key: UserKey(50), name: UserName(prepared: "new"), nickname: "", selfConversation: ConversationKey(2))
                    ]
                    changes.events = seqs.map {
                        EventRow(conversation: group, seq: $0, n: $0, sender: world.ann, at: 1, kind: .text, body: "{}")
                    }
                }
            }
            #expect(error?.code == .invalidUse, "\(seqs)")
            #expect(try world.storage.position() == before.0 && world.counters(group) == before.1, "\(seqs)")
            #expect(try world.facts { $0.conversations = [ConversationKey(2)] }.conversations[ConversationKey(2)] == nil)
            #expect(try world.storage.accounts([UserKey(50)]).isEmpty && world.event(EventAddress(group, 2)) == nil)
        }
        #expect(try world.append(to: group, by: world.ann) == 2)
    }

    /// The first events of a conversation are in the batch that adds it. Events of several
    /// conversations can be mixed.
    @Test(arguments: StorageKind.allCases) func aNewConversationHasEvents(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let keys = [ConversationKey(2), ConversationKey(1)]
        try world.write { changes in
            changes.conversations = keys.map { key in
                world.new(key, .group) { row in (row.counters.lastSeq, row.counters.lastN) = (3, 3) }
            }
            changes.members = keys.map { MemberRow(address: MemberAddress($0, world.ann), role: .owner, state: .joined) }
            changes.events = (1...3 as ClosedRange<Int64>).flatMap { seq in
                keys.map { EventRow(conversation: $0, seq: seq, n: seq, sender: world.ann, at: seq, kind: .text, body: "{}") }
            }
        }
        for key in keys { #expect(try world.seqs(key, .from(1), as: world.ann) == [1, 2, 3]) }
    }

    // MARK: Sign-ins and uploads

    /// Removals are applied before additions, so that a batch can replace rows.
    @Test(arguments: StorageKind.allCases) func removalsPrecedeAdditions(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let device = DeviceRow(key: DeviceKey(4), user: world.ann, name: "d", platform: "web", at: 1)
        let codes = [CodeRow(user: world.ann, hash: [1], purpose: .recovery), CodeRow(user: world.ann, hash: [2], purpose: .recovery)]
        let password = CredentialRow(user: world.ann, password: "new", passwordChangedAt: 1)
        for _ in 0..<2 {
            try world.write { changes in
                changes.credentials.removedCredentials = [world.ann]
                changes.credentials.credentials = [password]
                changes.credentials.removedDevices = [device.key]
                changes.credentials.devices = [device]
                changes.credentials.pushes = [(device.key, "{}")]
                changes.credentials.clearedCodes = [(world.ann, .recovery)]
                changes.credentials.removedCodes = [codes[1]]
                changes.credentials.codes = codes
            }
            #expect(try storage.credential(of: world.ann) == password && storage.device(device.key) == device)
            #expect(try storage.pushDevices(of: world.ann, limit: 9).count == 1)
            for code in codes { #expect(try storage.code(code.hash, of: world.ann) == code) }
        }
    }

    /// A blob that receives a reference in the batch of its collection is kept.
    @Test(arguments: StorageKind.allCases, ["event", "account", "conversation"]) func aReferencePrecedesACollection(
        _ kind: StorageKind, _ reference: String
    ) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let group = try world.group(1, world.ann)
        try world.append(to: group, by: world.ann)
        let blob = BlobRow(id: try #require(BlobID(Self.blob)), size: 7, type: "image/png", createdAt: 1)
        try world.write { $0.credentials.uploads = [(blob, world.ann)] }
        var account = try #require(try storage.accounts([world.ann]).first)
        account.avatar = blob.id
        let withPicture = account
        var row = try #require(try world.head(world.ann, group)).conversation
        row.profile.avatar = blob.id
        let conversation = ConversationChange(key: group, counters: row.counters, row: row)
        try world.write { changes in
            switch reference {
            case "event": changes.blobReferences = [BlobReference(event: EventAddress(group, 1), blob: blob.id)]
            case "account": changes.accounts = [withPicture]
            default: changes.conversations = [conversation]
            }
            changes.credentials.collectedBlobs = [blob.id]
        }
        #expect(try storage.blob(blob.id) == blob && storage.uploadedBytes(of: world.ann) == 7)
        #expect(try storage.orphans(before: .max, after: 0, limit: 9).blobs.isEmpty)
        // Without the reference, the next collection removes it.
        account.avatar = nil
        let withoutPicture = account
        row.profile.avatar = nil
        let empty = ConversationChange(key: group, counters: row.counters, row: row)
        try world.write { changes in
            (changes.accounts, changes.conversations) = ([withoutPicture], [empty])
            changes.blanks = [EventBlank(address: EventAddress(group, 1), state: .recalled)]
            changes.credentials.collectedBlobs = [blob.id]
        }
        #expect(try storage.blob(blob.id) == nil && storage.uploadedBytes(of: world.ann) == 0)
    }

    /// An upload and its removal in one batch leave nothing.
    @Test(arguments: StorageKind.allCases) func anUploadIsCollectedInItsBatch(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let blob = BlobRow(id: try #require(BlobID(Self.blob)), size: 7, type: "image/png", createdAt: 1)
        try world.write { changes in
            changes.credentials.uploads = [(blob, world.ann), (blob, world.ann), (blob, world.bob)]
            changes.credentials.collectedBlobs = [blob.id, blob.id]
        }
        #expect(try storage.blob(blob.id) == nil)
        for user in [world.ann, world.bob] {
            #expect(try storage.uploadedBytes(of: user) == 0 && !storage.mayRead(BlobNeed(user: user, blob: blob.id)))
        }
    }
}
