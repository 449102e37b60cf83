import Testing

@testable import ApusChatTerminal

@Suite("Every command of the chat")
struct ChatLineTableTests {
    @Test(arguments: ChatCommandName.allCases)
    func aCommandHasItsNamesAndItsArguments(command: ChatCommandName) {
        for name in [command.rawValue] + command.form.aliases {
            for spelled in [name, name.uppercased()] {
                switch ChatLine("  /\(spelled)  ") {
                case .command(let call):
                    #expect(call.name == command && call.words.isEmpty && call.seqs.isEmpty && command.form.missing == nil)
                case .mistake(let words): #expect(words.hasPrefix(command.usage) && words.hasSuffix("is missing"))
                default: Issue.record("/\(spelled) is not a command")
                }
            }
            if command.form.arguments.isEmpty, command != .help {
                for words in ["some words", "#3 w", "bob", "#3"] {
                    #expect(ChatLine("/\(name)  \(words) ") == .mistake("/\(command) has no arguments, not \"\(words)\""))
                }
                continue
            }
            if command != .jump {
                #expect(ChatLine("/\(name) some words ") == .command(ChatCall(command, [], "some words")))
            }
            // A number is that of a message for commands that take messages, and a word for others.
            let expected: ChatLine = command.takesMessages ? .command(ChatCall(command, [3], "w")) : .command(ChatCall(command, [], "#3 w"))
            #expect(ChatLine("/\(name) #3 w") == expected)
        }
        #expect(!command.form.help.isEmpty && command.usage.hasPrefix("/\(command.rawValue)"))
        #expect(command.form.missing == nil || !command.form.arguments.isEmpty)
    }

    @Test func everyCommandIsInOneGroup() {
        let grouped = ChatCommandName.groups.flatMap(\.commands)
        #expect(grouped == ChatCommandName.allCases)
        #expect(ChatCommandName.words.count == grouped.count && ChatCommandName.words.allSatisfy { $0.hasPrefix("/") })
    }

    @Test(
        arguments: [
            ("#1", [1]), ("#1,#2,#3", [1, 2, 3]), ("#1,2", [1, 2]), ("#3-#5", [3, 4, 5]), ("#3-5,#9", [3, 4, 5, 9]), ("#5-#5", [5]),
            ("#1-#100", Array(1...100)),
            // None of these is a number of a message.
            ("#", []), ("#0", []), ("#-1", []), ("#x", []), ("#1-#2-#3", []), ("#1-#101", []), ("#1-#60,#1-#60", []), ("#2-#1", []),
            ("#9223372036854775808", []), ("#1-#9223372036854775807", []), ("##", []), ("#1x", []), ("1", []), ("#1-", []), ("#1,#3-", []),
            ("#1--#3", []), ("#1-,#3", []),
        ] as [(String, [Int64])])
    func numbersOfMessagesAreRead(text: String, seqs: [Int64]) {
        #expect(ChatLine("/hide \(text)") == .command(ChatCall(.hide, seqs, seqs.isEmpty ? text : "")))
    }

    @Test(arguments: [
        ("", ChatLine.nothing), (" ", .nothing), ("\n\n", .nothing), ("\u{3000}", .nothing), ("//", .text("/")), ("// x", .text("/ x")),
        ("  //x", .text("/x")), (" text ", .text(" text ")), ("a /help", .text("a /help")), ("\n/help", .text("\n/help")),
    ])
    func aTextIsSentAsTyped(line: String, meaning: ChatLine) { #expect(ChatLine(line) == meaning) }

    @Test(arguments: ["/", "/ help", "/\u{1B}[2J", "/sch\u{202E}edule", "/Ｈelp", "/123"])
    func anUnknownCommandIsNotSent(line: String) {
        guard case .mistake(let words) = ChatLine(line) else {
            // `/ help` has a space after the slash, and is the command.
            #expect(line == "/ help")
            return
        }
        #expect(words.hasPrefix("unknown command /") && !words.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
    }

    @Test func aPollMayAllowSeveralVotes() {
        #expect(ChatLine("/poll a | b | c") == .command(ChatCall(.poll, [], "a | b | c")))
        #expect(ChatLine("/POLL* a | b") == .command(ChatCall(.poll, [], "* a | b")))
        #expect(ChatLine("/poll*") == .command(ChatCall(.poll, [], "* ")))
    }

    @Test(arguments: [("", ""), (" ", ""), ("  a b  ", "a b"), ("a", "a"), ("\ta ", "\ta")])
    func spacesAtTheEndsAreRemoved(text: String, trimmed: String) { #expect(text.trimmingSpaces == trimmed) }
}
