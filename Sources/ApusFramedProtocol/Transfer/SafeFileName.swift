import Foundation

/// A name from a peer that can stand below a folder of ours, and nowhere else.
///
/// What is dangerous is refused and not mended: two peers must not mean one file by two names, and nobody must wonder where a file has gone.
/// The shell opens every component under the handle of the one above and follows no link; a name alone proves nothing about links.
public struct SafeFileName: Hashable, Sendable, CustomStringConvertible {
    /// The longest component, NAME_MAX of Linux and Apple's systems. Unit: bytes of UTF-8.
    public static let maximumComponentBytes = 255
    /// The longest name in all. Unit: bytes of UTF-8.
    public static let maximumBytes = 1024
    /// The most components.
    public static let maximumComponents = 32
    /// What the names of our own unfinished files begin with. No peer's does.
    package static let partPrefix = ".apus-"

    /// The folders, and the file's own name at last. Never empty.
    public let components: [String]

    /// Judges a relative path with slashes between its components. It is kept in composed form (NFC): a name that came decomposed, as
    /// Apple's file systems give it, is the same name.
    ///
    /// - Throws: ``TransferError/Code/nameRefused`` for an empty or absolute path, `.` and `..`, a backslash, a drive (`C:`), control
    ///   characters and those that change the direction of the text around them, names of our unfinished files, and for what is too long.
    public init(_ path: String) throws(TransferError) {
        guard path.utf8.count <= Self.maximumBytes else {
            throw Self.refusal("it has \(path.utf8.count) bytes, \(Self.maximumBytes) are allowed")
        }
        // Every name of ASCII is in composed form.
        let composed = path.utf8.allSatisfy { $0 < 0x80 } ? path : path.precomposedStringWithCanonicalMapping
        // By bytes and not by characters: a slash with an accent on it is another character, and a slash to the system.
        let parts = composed.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard parts.count <= Self.maximumComponents else {
            throw Self.refusal("it has \(parts.count) components, \(Self.maximumComponents) are allowed")
        }
        for part in parts { try Self.judge(part) }
        self.components = parts
    }

    private static func judge(_ component: String) throws(TransferError) {
        guard !component.isEmpty else { throw Self.refusal("it is absolute, or has an empty component") }
        guard component != ".", component != ".." else { throw Self.refusal("it leaves its folder") }
        guard component.utf8.count <= Self.maximumComponentBytes else { throw Self.refusal("a component is too long") }
        // A backslash is a separator elsewhere.
        for scalar in component.unicodeScalars where scalar == "\\" || !PeerText.isHarmless(scalar) {
            throw Self.refusal("it holds U+\(String(scalar.value, radix: 16, uppercase: true))")
        }
        let bytes = component.utf8
        let isLetter = bytes.first.map { (0x41...0x5A).contains($0 & ~0x20) } ?? false
        guard !(isLetter && bytes.dropFirst().first == UInt8(ascii: ":")) else { throw Self.refusal("it names a drive") }
        // Also where the file system does not tell cases apart.
        guard bytes.first != Self.partPrefix.utf8.first || !component.lowercased().utf8.starts(with: Self.partPrefix.utf8) else {
            throw Self.refusal("it is kept for unfinished files")
        }
    }

    /// Whether a component begins with a dot, which hides files and folders from listings.
    ///
    /// Characters that some file systems leave out of names, as HFS+ does, do not count as a beginning.
    package var isHidden: Bool {
        self.components.contains { component in
            // Every name of ASCII is judged by its first byte.
            guard let first = component.utf8.first, first >= 0x80 else { return component.utf8.first == UInt8(ascii: ".") }
            return component.unicodeScalars.first { !$0.properties.isDefaultIgnorableCodePoint } == "."
        }
    }

    /// Never the name itself: the message may go to a log or a terminal.
    private static func refusal(_ why: String) -> TransferError {
        TransferError(.nameRefused, message: "the name of a file is refused: \(why)")
    }

    /// The components with slashes between them.
    public var description: String { self.components.joined(separator: "/") }
}
