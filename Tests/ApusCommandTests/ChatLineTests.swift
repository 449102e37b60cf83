import Testing

@testable import apus

@Suite struct ChatLineTests {
    @Test(arguments: [
        ("/users", ChatLine.users(nil)), ("/users  王 ", .users("王")), ("/u @ali", .users("@ali")), ("/more", .more), ("/m", .more),
        ("/open @alice", .open("@alice")), ("more", .text("more")),
    ])
    func userSearch(line: String, meaning: ChatLine) {
        #expect(ChatLine(line) == meaning)
    }
}
