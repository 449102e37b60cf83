import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Testing

@testable import ApusChatClient

/// The settings of the account and of a conversation: each setting with each of its values.
@MainActor @Suite("Settings of commands", .timeLimit(.minutes(5)))
struct ChatCommanderPrivacyTests {
    @Test(arguments: ["messages", "last_seen", "avatar", "add", "find"])
    func anAudienceIsSetByItsName(setting: String) async throws {
        try await CommandFixture.with { fixture in
            for audience in ["all", "contacts", "none"] {
                await fixture.perform("/privacy \(setting) \(audience)")
                #expect(fixture.request("settings.set") == ["settings": [setting: .string(audience)]])
                #expect(fixture.told() == ["\(setting): \(audience)"])
            }
            let sent = fixture.server.count(of: "settings.set")
            for wrong in ["yes", "unknown", "All", "", "all all"] {
                await fixture.perform("/privacy \(setting) \(wrong)")
                #expect(fixture.told().first?.contains(" is not valid; messages, last_seen, avatar, add, find: ") == true, "\(wrong)")
            }
            #expect(fixture.server.count(of: "settings.set") == sent)
        }
    }

    @Test(arguments: ["receipts", "typing"]) func aSwitchIsSetByItsName(setting: String) async throws {
        try await CommandFixture.with { fixture in
            for (word, value) in [("yes", true), ("no", false)] {
                await fixture.perform("/privacy \(setting) \(word)")
                #expect(fixture.request("settings.set") == ["settings": [setting: .bool(value)]])
            }
            let sent = fixture.server.count(of: "settings.set")
            for wrong in ["all", "true", "Yes", "1"] { await fixture.perform("/privacy \(setting) \(wrong)") }
            #expect(fixture.server.count(of: "settings.set") == sent)
        }
    }

    /// A setting that the server does not report is unknown, except the two that are on by default.
    @Test(
        arguments: [
            (UserSettings(), ["?", "?", "?", "?", "?", "yes", "yes"]),
            (
                UserSettings(
                    messages: .all, lastSeen: .contacts, avatar: Audience.none, add: .contacts, find: .all, receipts: false, typing: true),
                ["all", "contacts", "none", "contacts", "all", "no", "yes"]
            ),
            (UserSettings(messages: Audience.none, receipts: true, typing: false), ["none", "?", "?", "?", "?", "yes", "no"]),
        ])
    func thePrivacySettingsAreListed(settings: UserSettings, values: [String]) async throws {
        try await CommandFixture.with { fixture in
            fixture.server.script("settings", SettingsAnswer(settings: settings).json)
            await fixture.perform("/privacy")
            let names = ["messages", "last_seen", "avatar", "add", "find", "receipts", "typing"]
            #expect(fixture.told() == zip(names, values).map { "\($0): \($1)" })
        }
    }

    @Test(arguments: ["secrets all", "quiet_from 1", "folders none", "messages", "messages all now"])
    func anotherSettingIsNotSent(words: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform("/privacy \(words)")
            #expect(fixture.told().first?.hasPrefix("/privacy [SETTING VALUE]: \"\(words)\" is not valid; ") == true)
            #expect(fixture.server.count(of: "settings.set") == 0)
        }
    }

    // MARK: Settings of a conversation

    @Test(
        arguments: [
            ("/set invite members", "invite", "members"), ("/set invite admins", "invite", "admins"),
            ("/set manage admins", "manage", "admins"), ("/set pin members", "pin", "members"),
            ("/set mention_all admins", "mention_all", "admins"), ("/set history all", "history", "all"),
            ("/set receipts yes", "receipts", true), ("/write members", "write", "members"), ("/joining open", "join", "open"),
            ("/joining closed", "join", "closed"),
        ] as [(String, String, JSONValue)])
    func aSettingOfTheConversationIsSetByItsName(line: String, field: String, value: JSONValue) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.request("conversation.set") == ["settings": .object([field: value])])
            #expect(fixture.told().isEmpty, "the event of the change is shown instead")
        }
    }

    @Test(arguments: [
        "/set invite unknown", "/set history unknown", "/set history members", "/set receipts true", "/set receipts", "/set listed yes",
        "/set write admins", "/set Invite admins", "/set invite  admins x", "/joining unknown",
    ])
    func aWrongSettingOfTheConversationIsNotSent(line: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.host.said.map(\.style) == [.warning] && fixture.told().first?.contains("is not valid") == true)
            #expect(fixture.server.count(of: "conversation.set") == 0)
        }
    }

    /// The units of durations, and the largest accepted number.
    @Test(
        arguments: [
            ("/slow 0", "slow", 0), ("/slow 90s", "slow", 90), ("/slow 2m", "slow", 120), ("/expire 8h", "expire", 28_800),
            ("/expire 1w", "expire", 604_800), ("/expire 100000000", "expire", 100_000_000), ("/expire 007d", "expire", 604_800),
        ] as [(String, String, Int64)])
    func aDurationIsSentInSeconds(line: String, field: String, seconds: Int64) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.request("conversation.set") == ["settings": .object([field: .integer(seconds)])])
        }
    }

    // MARK: Links

    /// The role and `approval` can be at any position among the numbers.
    @Test(
        arguments: [
            ("/link approval 24 guest 5", 24, 5, "guest", true), ("/link reader 8", 8, nil, "reader", false),
            ("/link 7d 1 member", 168, 1, "member", false), ("/link 30m", nil, nil, nil, false),
        ] as [(String, Int64?, Int64?, String?, Bool)])
    func theArgumentsOfALinkHaveAnyOrder(line: String, hours: Int64?, uses: Int64?, role: String?, approval: Bool) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            var expected: JSONObject = [:]
            let end = hours.map { $0 * 3_600_000 } ?? 1_800_000
            expected["expires_at"] = .integer(CommandFixture.now + end)
            if let uses { expected["uses"] = .integer(uses) }
            if let role { expected["role"] = .string(role) }
            if approval { expected["approval"] = true }
            #expect(fixture.request("link.create") == .object(expected))
            #expect(fixture.told().first?.hasSuffix("/approve.") == approval)
        }
    }

    @Test(arguments: ["/link reader guest", "/link 1 2 3", "/link owner", "/link admin 3", "/link 24 Approval"])
    func aWrongLinkIsNotCreated(line: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.host.said.map(\.style) == [.warning])
            #expect(fixture.server.count(of: "link.create") == 0)
        }
    }
}
