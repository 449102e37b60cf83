import ApusChatProtocol
import Testing

@testable import ApusChatCore

@Suite struct OwnSettingsTests {
    /// A change contains only the settings that it changes. It leaves the others unchanged.
    @Test func aChangeOfOwnSettingsLeavesTheOthers() {
        let full = OwnSettings(
            pinnedAt: 1, isArchived: true, mutedUntil: 2, notify: .mentions, isMarkedUnread: true, draft: Draft(text: "d", at: 3),
            folders: ["Work"])
        func applied(_ configure: (inout OwnSetBody) -> Void) -> OwnSettings {
            var body = OwnSetBody(conversation: Client.room)
            configure(&body)
            var own = full
            own.apply(body)
            return own
        }
        func expected(_ configure: (inout OwnSettings) -> Void) -> OwnSettings {
            var own = full
            configure(&own)
            return own
        }
        #expect(applied { _ in } == full)
        #expect(applied { $0.pinnedAt = 9 } == expected { $0.pinnedAt = 9 })
        #expect(applied { $0.pinnedAt = 0 } == expected { $0.pinnedAt = nil })
        #expect(applied { $0.isArchived = false } == expected { $0.isArchived = false })
        #expect(applied { $0.mutedUntil = 9 } == expected { $0.mutedUntil = 9 })
        #expect(applied { $0.mutedUntil = 0 } == expected { $0.mutedUntil = nil })
        #expect(applied { $0.notify = .all } == expected { $0.notify = .all })
        #expect(applied { $0.isMarkedUnread = false } == expected { $0.isMarkedUnread = false })
        #expect(applied { $0.folders = [] } == expected { $0.folders = [] })
    }

    /// The client applies a change before the head that contains it, and only once.
    @Test func aChangeIsStoredUnlessItChangesNothing() {
        var core = Client.online()
        let body = OwnSetBody(conversation: Client.room, isArchived: true)
        guard case .head(let head)? = Client.changes(core.changed(body)).first else {
            Issue.record("the change is not stored")
            return
        }
        #expect(head.own.isArchived && core.heads[Client.room]?.own.isArchived == true)
        #expect(core.changed(body).isEmpty)
        #expect(core.changed(OwnSetBody(conversation: Client.other, isArchived: true)).isEmpty, "an unknown conversation")
    }

    /// The user marked the conversation as unread, and then reads a message in it.
    @Test func readingRemovesTheMark() {
        var core = Client.online(at: 5, read: 3)
        _ = core.changed(OwnSetBody(conversation: Client.room, isMarkedUnread: true))
        #expect(core.heads[Client.room]?.own.isMarkedUnread == true)
        _ = core.read(4, in: Client.room)
        #expect(core.heads[Client.room]?.own.isMarkedUnread == false && core.heads[Client.room]?.unread == 1)
    }
}
