import ApusChatTerminal
import Testing

struct HomePathTests {
    @Test(arguments: [
        ("~", "/home/ada"), ("~/", "/home/ada"), ("~/a/b.txt", "/home/ada/a/b.txt"), ("a/~/b", "a/~/b"), ("/tmp/~", "/tmp/~"), ("", ""),
        ("~no-such-user/x", "~no-such-user/x"),
    ])
    func theVariableIsTheHome(path: String, expanded: String) { #expect(HomePath.expanded(path, home: "/home/ada") == expanded) }

    @Test func aSlashIsNotRepeated() { #expect(HomePath.expanded("~/a", home: "/") == "/a") }

    @Test(arguments: [nil, ""])
    func withoutTheVariableItIsTheSystemsFolder(home: String?) { #expect(HomePath.expanded("~/a", home: home).hasSuffix("/a")) }
}
