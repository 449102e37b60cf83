import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Testing

@testable import ApusChatClient

/// The commands for folders, and the conversations that each kind of folder contains.
@MainActor @Suite("Folders of commands", .timeLimit(.minutes(5)))
struct ChatCommanderFolderTests {
    /// The folders of the account: one of the user's choice, and one for each rule.
    private nonisolated static let folders = [
        Folder(name: "Work"), Folder(name: "New", filter: "unread"), Folder(name: "People", filter: "people"),
        Folder(name: "Groups", filter: "groups"), Folder(name: "Channels", filter: "channels"), Folder(name: "Later", filter: "someday"),
    ]

    private func with(_ folders: [Folder] = Self.folders, _ body: (CommandFixture) async throws -> Void) async throws {
        try await CommandFixture.with { fixture in
            fixture.server.script("settings", SettingsAnswer(settings: UserSettings(folders: folders)).json)
            try await body(fixture)
        }
    }

    /// Changes the head of a conversation, as another device of the user does.
    private func change(
        _ conversation: ConversationID, of fixture: CommandFixture, _ body: (inout ChatHead) -> Void
    ) async throws {
        var head = try await fixture.client.conversation(conversation).head
        body(&head)
        let changed = head
        fixture.server.push("head", HeadPush(heads: [changed]).json)
        try await eventually {
            let known = try await fixture.client.conversation(conversation).head
            return known.own == changed.own && known.unread == changed.unread && known.state == changed.state
        }
    }

    // MARK: Changes

    @Test func aNewFolderIsAddedToTheOthersBeforeItContainsTheConversation() async throws {
        try await self.with([Folder(name: "Work"), Folder(name: "New", filter: "unread")]) { fixture in
            await fixture.perform("/folder Two words")
            let all: JSONValue = [["name": "Work"], ["name": "New", "filter": "unread"], ["name": "Two words"]]
            #expect(fixture.request("settings.set") == ["settings": ["folders": all]])
            #expect(fixture.request("own.set") == ["folders": ["Two words"]])
            #expect(fixture.told() == ["The conversation is in the folder. /chats Two words lists it."])
        }
    }

    /// The name is compared without regard to case, and the folder keeps its spelling.
    @Test func aKnownFolderIsNotAddedAgain() async throws {
        try await self.with { fixture in
            await fixture.perform("/folder WORK")
            #expect(fixture.server.count(of: "settings.set") == 0)
            #expect(fixture.request("own.set") == ["folders": ["Work"]])
            #expect(fixture.told() == ["The conversation is in the folder. /chats Work lists it."])
        }
    }

    @Test func aConversationKeepsItsOtherFoldersAndEachFolderOnce() async throws {
        try await self.with { fixture in
            try await self.change(fixture.group, of: fixture) { $0.own.folders = ["Work", "Home"] }
            await fixture.perform("/folder work")
            #expect(fixture.request("own.set") == ["folders": ["Home", "Work"]])
        }
    }

    @Test(arguments: ["New", "people", "GROUPS", "channels", "Later"])
    func aFolderWithARuleHasNoConversationsOfTheUsersChoice(name: String) async throws {
        try await self.with { fixture in
            await fixture.perform("/folder \(name)")
            let spelled = Self.folders.first { $0.name.lowercased() == name.lowercased() }?.name ?? ""
            let words = "the rule of the folder \(spelled) determines its conversations; name another folder"
            #expect(fixture.told() == [words])
            #expect(fixture.server.count(of: "settings.set") == 0 && fixture.server.count(of: "own.set") == 0)
        }
    }

    @Test func aConversationLeavesOneFolder() async throws {
        try await self.with { fixture in
            try await self.change(fixture.group, of: fixture) { $0.own.folders = ["Home", "Work"] }
            await fixture.perform("/unfolder hOME")
            #expect(fixture.request("own.set") == ["folders": ["Work"]])
            #expect(fixture.told() == ["The conversation is no longer in the folder."])
        }
    }

    /// The folder of another conversation is not a folder of this one.
    @Test func aConversationLeavesNoFolderThatDoesNotContainIt() async throws {
        try await self.with { fixture in
            await fixture.perform("/unfolder Work\u{1B}")
            #expect(fixture.told() == ["the conversation is not in the folder Work\u{FFFD}"])
            await fixture.perform("/unfolder Work")
            #expect(fixture.told() == ["the conversation is not in the folder Work"])
            #expect(fixture.server.count(of: "own.set") == 0)
        }
    }

    @Test func aDeletedFolderIsRemovedFromTheSettingsOnly() async throws {
        try await self.with([Folder(name: "Work"), Folder(name: "Two words"), Folder(name: "New", filter: "unread")]) { fixture in
            await fixture.perform("/folders delete two WORDS")
            #expect(fixture.request("settings.set") == ["settings": ["folders": [["name": "Work"], ["name": "New", "filter": "unread"]]]])
            #expect(fixture.told() == ["The folder is deleted; its conversations remain."])
            #expect(fixture.server.count(of: "own.set") == 0)
        }
    }

    @Test(arguments: ["/folder Work", "/unfolder Work"]) func aFolderNeedsAnOpenConversation(line: String) async throws {
        try await self.with { fixture in
            fixture.host.conversation = nil
            await fixture.perform(line)
            #expect(fixture.told() == ["open a conversation first: /open NAME"])
            #expect(fixture.server.count(of: "settings.set") == 0)
        }
    }

    // MARK: Lists

    /// Each line has the number of conversations, and selects the list of the folder.
    @Test func foldersAreListedWithTheirConversations() async throws {
        try await self.with { fixture in
            try await self.change(fixture.group, of: fixture) { ($0.own.folders, $0.own.isMarkedUnread) = (["Work"], true) }
            try await self.change(fixture.pair, of: fixture) { $0.own.isMarkedUnread = true }
            await fixture.perform("/folders")
            let commands = fixture.host.said.map(\.command)
            #expect(
                fixture.told() == [
                    "Work  (1 conversation)", "New  (2 conversations, unread)", "People  (1 conversation, people)",
                    "Groups  (1 conversation, groups)", "Channels  (0 conversations, channels)", "Later  (0 conversations, someday)",
                ])
            #expect(commands == Self.folders.map { "/chats \($0.name)" })
        }
    }

    @Test func aListWithoutFoldersNamesTheCommandThatAddsOne() async throws {
        try await self.with([]) { fixture in
            await fixture.perform("/folders")
            #expect(fixture.host.said.map(\.style) == [.dim])
            #expect(fixture.told() == ["No folders. /folder NAME puts the open conversation into one."])
        }
    }

    @Test(
        arguments: [
            ("", ["group", "notes", "pair"]), ("all", ["group", "notes", "pair"]), ("work", ["group"]), ("NEW", ["group"]),
            ("People", ["pair"]), ("groups", ["group"]), ("Channels", []), ("Later", []),
        ] as [(String, [String])])
    func chatsOfAFolderAreTheConversationsThatItContains(folder: String, expected: [String]) async throws {
        try await self.with { fixture in
            try await self.change(fixture.group, of: fixture) { ($0.own.folders, $0.own.isMarkedUnread) = (["Work"], true) }
            let found = try await fixture.commander.chats(in: folder).map { head in
                head.conversation == fixture.group ? "group" : head.conversation == fixture.pair ? "pair" : "notes"
            }
            #expect(found.sorted() == expected)
        }
    }

    /// A folder also shows archived conversations. The list without a folder does not.
    @Test func archivedConversationsAreInTheirFoldersOnly() async throws {
        try await self.with { fixture in
            try await self.change(fixture.group, of: fixture) { ($0.own.folders, $0.own.isArchived) = (["Work"], true) }
            #expect(try await fixture.commander.chats(in: "Work").map(\.conversation) == [fixture.group])
            #expect(try await !fixture.commander.chats(in: "").contains { $0.conversation == fixture.group })
            try await self.change(fixture.pair, of: fixture) { ($0.own.folders, $0.state) = (["Work"], .invited) }
            #expect(try await fixture.commander.chats(in: "Work").map(\.conversation) == [fixture.group], "an invitation is not listed")
        }
    }

    @Test func aNewMessageMovesItsConversationToTheFolderOfUnreadOnes() async throws {
        try await self.with { fixture in
            #expect(try await !fixture.commander.chats(in: "New").contains { $0.conversation == fixture.pair })
            fixture.server.write("news", by: Value.bob, in: fixture.pair)
            try await eventually { try await fixture.commander.chats(in: "New").contains { $0.conversation == fixture.pair } }
        }
    }

    @Test func anUnknownFolderIsAnError() async throws {
        try await self.with { fixture in
            await #expect {
                try await fixture.commander.chats(in: "Wor\u{202E}k")
            } throws: { error in
                let error = error as? ChatClientError
                return error?.code == .notFound && error?.message == "there is no folder \"Wor\u{FFFD}k\"; /folders lists them"
            }
        }
    }
}
