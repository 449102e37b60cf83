import ApusChatProtocol
import Testing

@testable import ApusChatClient

/// The names of contacts, and the names of other users who can be confused with them.
@Suite("Contact book")
struct ContactBookTests {
    private func contact(_ name: String, nick: String? = nil, alias: String? = nil, _ state: ContactState = .friend) -> Contact {
        Contact(user: ChatUser(name: Value.name(name), nick: nick), state: state, alias: alias, at: 1)
    }

    private func user(_ name: String, nick: String? = nil) -> ChatUser { ChatUser(name: Value.name(name), nick: nick) }

    @Test(
        arguments: [
            ("b0b", nil, "bob"), ("eve", "B O B", "bob"), ("eve", "Rоbert", "bob"), ("eve", "the boss", "bob"), ("eve", "eve", nil),
            ("eve", "", nil), ("bobby", "Robert the Second", nil),
        ] as [(String, String?, String?)])
    func otherUsersAreComparedWithEveryNameOfAContact(name: String, nick: String?, expected: String?) {
        let book = ContactBook([self.contact("bob", nick: "Robert", alias: "The Boss")])
        #expect(book.lookalike(of: self.user(name, nick: nick)) == expected.map { Value.name($0) })
    }

    @Test func aContactImitatesNoOtherContact() {
        let book = ContactBook([self.contact("bob"), self.contact("b0b")])
        #expect(book.lookalike(of: self.user("bob")) == nil && book.lookalike(of: self.user("b0b")) == nil)
        #expect(book.lookalike(of: self.user("eve", nick: "Bob")) == Value.name("b0b"), "the first by name")
    }

    @Test(arguments: [ContactState.asked, .asking, .blocked]) func onlyContactsAreCompared(state: ContactState) {
        let book = ContactBook([self.contact("bob", alias: "Boss", state)])
        #expect(book[Value.bob] == nil && book.lookalike(of: self.user("b0b")) == nil)
    }

    /// A contact who is changed or removed leaves none of its former names.
    @Test func aChangedContactHasItsNewNamesOnly() {
        var book = ContactBook([self.contact("bob", alias: "Boss"), self.contact("carol", alias: "Boss")])
        book.set(self.contact("bob", nick: "Robert"))
        #expect(book.lookalike(of: self.user("eve", nick: "boss")) == Value.name("carol"))
        #expect(book.lookalike(of: self.user("eve", nick: "robert")) == Value.bob)
        book.remove(Value.name("carol"))
        #expect(book.lookalike(of: self.user("eve", nick: "boss")) == nil)
        book.set(self.contact("bob", .blocked))
        #expect(book == ContactBook() && book.lookalike(of: self.user("b0b")) == nil)
        book.remove(Value.bob)
        #expect(book == ContactBook())
    }

    /// The capital of a letter can look like another letter than its lower-case form.
    @Test(arguments: ["вера", "ВЕРА", "Вера", "Bepa"]) func theCaseOfANameIsIgnored(nick: String) {
        for name in ["Вера", "вера"] where name != "вера" || nick != "Bepa" {
            let book = ContactBook([self.contact("bob", nick: name)])
            #expect(book.lookalike(of: self.user("eve", nick: nick)) == Value.bob, "\(name)")
        }
    }

    /// A name of ignored characters only looks like every other such name.
    @Test func aNameWithoutASkeletonMatchesNone() {
        let book = ContactBook([self.contact("bob", alias: "...")])
        #expect(book.lookalike(of: self.user("eve", nick: "- -")) == nil)
    }
}
