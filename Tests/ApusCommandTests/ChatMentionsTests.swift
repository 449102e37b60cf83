import ApusChatProtocol
import Testing

@testable import apus

@Suite struct ChatMentionsTests {
    private static let members = ["bob", "王伟", "anna.k"].compactMap { UserName($0) }

    @Test(arguments: [
        ("@bob hello", ["0+4 bob"]), ("hello @BOB.", ["6+4 bob"]), ("你好 @王伟, @bob", ["3+3 王伟", "8+4 bob"]),
        ("🐦 @anna.k-", ["2+7 anna.k"]), ("@all come", ["0+4 all"]), ("mail bob@bob or @ bob", []), ("@carol", []), ("@bobby", []),
        ("", []), ("@", []), ("@@bob", ["1+4 bob"]),
    ])
    func namesOfMembersAreMentions(text: String, expected: [String]) {
        let found = ChatMentions.entities(in: text, members: Self.members).map { entity in
            "\(entity.offset)+\(entity.length) \(entity.kind == .all ? "all" : entity.user?.rawValue ?? "")"
        }
        #expect(found == expected)
    }
}
