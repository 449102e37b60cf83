import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@Suite struct PermissionsTests {
    @Test func thePageMatchesTheCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/chat-permissions.md").standardized
        if ProcessInfo.processInfo.environment["APUS_UPDATE_DOCS"] == "1" {
            try Permissions.page.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == Permissions.page, "APUS_UPDATE_DOCS=1 writes the page")
    }

    @Test(arguments: ChatAction.allCases) func strangersAndBannedUsersHaveNoPermission(action: ChatAction) {
        #expect(Permissions.grant(action, .banned) == .no)
        #expect(Permissions.grant(action, .stranger) == (action == .join ? .joinRule : .no))
    }

    @Test(arguments: ChatAction.allCases) func aHigherRoleHasAllPermissionsOfALowerOne(action: ChatAction) {
        guard action != .join, action != .accept else { return }
        for (higher, lower) in [(Standing.owner, Standing.admin), (.admin, .member), (.admin, .reader), (.admin, .guest)] {
            if Permissions.grant(action, higher) == .no { #expect(Permissions.grant(action, lower) == .no) }
        }
    }

    @Test func aSettingNarrowsToAdmins() {
        var conversation = ConversationRow(key: ConversationKey(1), kind: .group, createdAt: 0, settings: ConversationSettings())
        let member = MemberRow(address: MemberAddress(conversation.key, UserKey(1)), role: .member, state: .joined)
        let admin = MemberRow(address: MemberAddress(conversation.key, UserKey(2)), role: .admin, state: .joined)
        #expect(throws: Never.self) { try Permissions.check(.send, of: member, in: conversation, at: 0) }
        conversation.settings.write = .admins
        #expect(throws: ChatError.self) { try Permissions.check(.send, of: member, in: conversation, at: 0) }
        #expect(throws: Never.self) { try Permissions.check(.send, of: admin, in: conversation, at: 0) }
    }
}
