import ApusFramedProtocol
import Testing

/// docs/hazards.md, 21: unsafe file names.
@Suite struct SafeFileNameTests {
    private func code(_ path: String) -> TransferError.Code? {
        do {
            _ = try SafeFileName(path)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [
        "a", "a.txt", "folder/a.txt", "a b", "...", ".hidden", "图片/照片.png", "ab:c", "12:30", "😀", "-rf", "a~", "con", "1:",
    ])
    func theseMayStand(path: String) throws {
        #expect(try SafeFileName(path).description == path)
    }

    @Test(arguments: [
        "", "/", "/etc/passwd", "..", ".", "../x", "a/../b", "a/..", "./a", "a//b", "a/", "C:", "C:\\x", "c:/x", "a:b", "a\\b", "..\\x",
        "\\\\host\\x",
        "a\0", "a\nb", "a\r", "\u{1B}[2J", "a\u{7F}", "a\u{9B}31m", "a\u{2028}b", "photo\u{202E}gpj.exe", "a\u{2066}b", "a\u{200F}",
        "\u{FEFF}a",
        ".apus-x.part", ".APUS-x", "folder/.apus-1",
    ])
    func theseAreRefused(path: String) {
        #expect(self.code(path) == .nameRefused)
    }

    /// A slash with a combining accent is one character to Swift, but a separator to the system.
    /// `a/` followed by `̈..` would otherwise leave the folder.
    @Test func aSlashWithACombiningAccentIsASeparator() throws {
        #expect(try SafeFileName("a/\u{301}b").components == ["a", "\u{301}b"])
        for path in ["../\u{301}x", "a/../\u{301}x", "/\u{308}etc/passwd", "..\\\u{301}x", ".apus-\u{301}x.part"] {
            #expect(self.code(path) == .nameRefused, "\(path)")
        }
    }

    @Test func decomposedAndComposedAreOneName() throws {
        let composed = try SafeFileName("\u{E9}/\u{AC00}")
        let decomposed = try SafeFileName("e\u{301}/\u{1100}\u{1161}")
        #expect(composed.components == decomposed.components)
        #expect(Array(decomposed.description.utf8) == Array("\u{E9}/\u{AC00}".utf8))
        #expect(Array(try SafeFileName("\u{AC00}\u{11A8}").description.utf8) == Array("\u{AC01}".utf8))
    }

    @Test(arguments: [
        (".bashrc", true), (".ssh/authorized_keys", true), ("a/.git/config", true), ("a/b/.c", true), ("...", true), (".\u{308}x", true),
        ("\u{200D}.bashrc", true), ("a/\u{200B}\u{200D}.x", true), ("a", false), ("a.b/c.d", false), ("a.", false), ("图.png", false),
        ("。bashrc", false), ("\u{200D}", false),
    ])
    func aLeadingDotHides(path: String, isHidden: Bool) throws {
        #expect(try SafeFileName(path).isHidden == isHidden)
    }

    @Test func theLengthsAreBounded() {
        #expect(self.code(String(repeating: "x", count: 255)) == nil)
        #expect(self.code(String(repeating: "x", count: 256)) == .nameRefused)
        #expect(self.code(String(repeating: "é", count: 128)) == .nameRefused)
        #expect(self.code(Array(repeating: "x", count: 32).joined(separator: "/")) == nil)
        #expect(self.code(Array(repeating: "x", count: 33).joined(separator: "/")) == .nameRefused)
        let long = Array(repeating: String(repeating: "x", count: 204), count: 5).joined(separator: "/")
        #expect(long.utf8.count == 1024)
        #expect(self.code(long) == nil)
        #expect(self.code(long + "x") == .nameRefused)
    }

    @Test(arguments: [
        ("", "it is empty"), ("/etc/passwd", "it begins with a slash; it must be relative"),
        ("a//b", "it ends with a slash, or has two in sequence"), ("a/", "it ends with a slash, or has two in sequence"),
        ("a/C:b", "a component begins with a drive letter"),
    ])
    func theMessageNamesTheRule(path: String, reason: String) {
        let error = #expect(throws: TransferError.self) { try SafeFileName(path) }
        #expect(error?.message == "the file name is refused: \(reason)")
    }

    @Test func theMessageDoesNotRepeatTheName() {
        #expect {
            _ = try SafeFileName("\u{1B}[31mred")
        } throws: { error in
            (error as? TransferError)?.message.contains("red") == false
        }
    }
}
