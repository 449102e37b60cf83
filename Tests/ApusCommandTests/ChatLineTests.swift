import Testing

@testable import apus

@Suite struct ChatLineTests {
    @Test(arguments: [
        ("/users 王 ", ChatLine.users("王")), ("/u ali", .users("ali")), ("/users", .mistake("/users NAME: the name is missing")),
        ("/open @alice", .open("@alice")), ("more", .text("more")), ("//etc", .text("/etc")), ("   ", .nothing), ("/chats", .list),
        ("/accept @dora", .answer("dora", accepts: true)), ("/decline Boat trip", .answer("Boat trip", accepts: false)),
        ("/contact @bob  We met in 上海", .contact(name: "bob", text: "We met in 上海")), ("/contact bob", .contact(name: "bob", text: nil)),
        ("/group Boat trip: @bob, carol", .new(title: "Boat trip", members: ["bob", "carol"])),
        ("/group Boat trip", .mistake("/group TITLE: NAME NAME …: the title or the names are missing")),
        ("/add @bob carol", .add(["bob", "carol"])), ("/mute", .mute(hours: nil)), ("/mute 8", .mute(hours: 8)),
        ("/unmute", .mute(hours: 0)), ("/mute -1", .mistake("/mute [HOURS]: the hours must be from 1 to 87600")),
    ])
    func people(line: String, meaning: ChatLine) {
        #expect(ChatLine(line) == meaning)
    }

    @Test(arguments: [
        ("/reply #17 yes", ChatLine.reply(seq: 17, text: "yes")), ("/reply yes", .reply(seq: nil, text: "yes")),
        ("/reply #all yes", .reply(seq: nil, text: "#all yes")), ("/reply #17", .mistake("/reply [#NUMBER] TEXT: the text is missing")),
        ("/edit #3  new text", .edit(seq: 3, text: "new text")), ("/recall", .recall(seq: nil)), ("/recall #9", .recall(seq: 9)),
        ("/react 👍", .react(seq: nil, key: "👍", isOn: true)), ("/unreact #4 👍", .react(seq: 4, key: "👍", isOn: false)),
        ("/pin #4", .pin(seq: 4, isOn: true)), ("/unpin", .pin(seq: nil, isOn: false)),
        ("/file \"a b.png\" on deck", .file(path: "a b.png", caption: "on deck")), ("/image a.png", .file(path: "a.png", caption: nil)),
        ("/save #4 x.png", .save(seq: 4, path: "x.png")), ("/save", .save(seq: nil, path: nil)),
        ("/nonsense", .mistake("unknown command /nonsense; see /help (to send a message that begins with /, type //)")),
    ])
    func messages(line: String, meaning: ChatLine) {
        #expect(ChatLine(line) == meaning)
    }
}
