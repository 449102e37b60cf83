import Testing

@testable import ApusChatTerminal

@Suite("Line of the chat")
struct ChatLineTests {
    private static func call(_ name: ChatCommandName, _ seqs: [Int64] = [], _ words: String = "") -> ChatLine {
        .command(ChatCall(name, seqs, words))
    }

    @Test(arguments: [
        ("/users 王 ", call(.users, [], "王")), ("/u ali", call(.users, [], "ali")), ("/users", .mistake("/users NAME: the name is missing")),
        ("/OPEN @alice", call(.open, [], "@alice")), ("more", .text("more")), ("//etc", .text("/etc")), ("   ", .nothing),
        ("/chats", call(.chats)), ("/list all", call(.chats, [], "all")), ("/mute 8", call(.mute, [], "8")),
        ("/reply #17 yes", call(.reply, [17], "yes")), ("/reply yes", call(.reply, [], "yes")),
        ("/reply #all yes", call(.reply, [], "#all yes")), ("/reply #17", .mistake("/reply [#N] TEXT: the text is missing")),
        ("/edit #3  new text", call(.edit, [3], "new text")), ("/recall", call(.recall)), ("/recall #9", call(.recall, [9])),
        ("/forward #3,#5-#7 bob: Notes", call(.forward, [3, 5, 6, 7], "bob: Notes")), ("/hide #2-4", call(.hide, [2, 3, 4])),
        ("/hide #4-2", call(.hide, [], "#4-2")), ("/hide #1-#9223372036854775807", call(.hide, [], "#1-#9223372036854775807")),
        ("/react 👍", call(.react, [], "👍")), ("/unreact #4 👍", call(.unreact, [4], "👍")),
        ("/poll* a | b | c", call(.poll, [], "* a | b | c")),
        ("/image a.png", call(.file, [], "a.png")), ("/jump", .mistake("/jump #N: the number is missing")), ("/jump #8", call(.jump, [8])),
        ("/reply one\ntwo", call(.reply, [], "one\ntwo")),
        ("/nonsense", .mistake("unknown command /nonsense; see /help (to send a message that begins with /, type //)")),
    ])
    func aLineIsParsed(line: String, meaning: ChatLine) { #expect(ChatLine(line) == meaning) }

    @Test func namesAreBare() {
        let call = ChatCall(.add, [], "@bob, carol  @王伟")
        #expect(call.names == ["bob", "carol", "王伟"])
        #expect(ChatCall(.contact, [], "@bob  We met in 上海").named == ("bob", "We met in 上海"))
        #expect(ChatCall(.ban, [], "").named == ("", ""))
    }

    @Test func everyCommandIsInTheHelpAndHasItsOwnNames() {
        let help = ChatCommandName.helpLines
        for command in ChatCommandName.allCases { #expect(help.contains { $0.hasPrefix("  " + command.usage) }, "\(command)") }
        let names = ChatCommandName.allCases.flatMap { [$0.rawValue] + $0.form.aliases }
        #expect(Set(names).count == names.count)
        #expect(help.allSatisfy { TerminalText.width($0) < 130 })
    }

    @Test func aCommandWithoutANumberConcernsTheLastMessage() {
        #expect(ChatCall(.edit, [], "x").concernsLastMessage)
        #expect(!ChatCall(.edit, [4], "x").concernsLastMessage)
        #expect(!ChatCall(.search, [], "x").concernsLastMessage)
    }
}
