import ApusBytes
import Foundation

/// A file name from a peer that is safe to use below a local folder.
///
/// Dangerous names are rejected and not repaired: one file must not have two names, and a sender
/// must be able to predict the name of the stored file. A name alone says nothing about symbolic
/// links, so the caller must open each component relative to its parent folder and follow no link.
public struct SafeFileName: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a component, NAME_MAX of Linux and Apple's systems. Unit: bytes of
    /// UTF-8.
    public static let maximumComponentBytes = 255
    /// The maximum length of the whole name. Unit: bytes of UTF-8.
    public static let maximumBytes = 1024
    /// The maximum number of components.
    public static let maximumComponents = 32
    /// The prefix of the names of unfinished files. Names from a peer must not begin with it.
    package static let partPrefix = ".apus-"

    /// The names of the folders, followed by the name of the file. Never empty.
    public let components: [String]

    /// Validates a relative path whose components are separated by slashes. The name is stored in
    /// composed form (NFC), because Apple's file systems may return decomposed names.
    ///
    /// - Throws: ``TransferError/Code/nameRefused`` for an empty or absolute path, `.` and `..`, a
    ///   backslash, a drive (`C:`), control characters, characters that change the text direction,
    ///   the prefix of unfinished files, and a name above the limits.
    public init(_ path: String) throws(TransferError) {
        guard path.utf8.count <= Self.maximumBytes else {
            throw Self.refusal("it has \(path.utf8.count) bytes; the maximum is \(Self.maximumBytes)")
        }
        // ASCII text is always in composed form. Foundation for Linux composes some text only after
        // it is decomposed, such as a syllable of Hangul and its final consonant.
        let isASCII = path.utf8.allSatisfy { $0 < 0x80 }
        let composed = isASCII ? path : path.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
        // Split bytes and not characters: a slash with a combining accent is a different character,
        // but still a separator for the system.
        let parts = composed.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard !path.isEmpty else { throw Self.refusal("it is empty") }
        guard parts.count == 1 || parts.first != "" else { throw Self.refusal("it begins with a slash; it must be relative") }
        guard parts.count <= Self.maximumComponents else {
            throw Self.refusal("it has \(parts.count) components; the maximum is \(Self.maximumComponents)")
        }
        for part in parts { try Self.validate(part) }
        self.components = parts
    }

    private static func validate(_ component: String) throws(TransferError) {
        guard !component.isEmpty else { throw Self.refusal("it ends with a slash, or has two in sequence") }
        guard component != ".", component != ".." else { throw Self.refusal("it has a component `.` or `..`") }
        guard component.utf8.count <= Self.maximumComponentBytes else {
            throw Self.refusal("a component has \(component.utf8.count) bytes; the maximum is \(Self.maximumComponentBytes)")
        }
        // A backslash is a separator on Windows.
        for scalar in component.unicodeScalars where scalar == "\\" || !PeerText.isHarmless(scalar) {
            throw Self.refusal("it contains the character U+\(String(scalar.value, radix: 16, uppercase: true))")
        }
        let bytes = component.utf8
        let isLetter = bytes.first.map { (0x41...0x5A).contains($0 & ~0x20) } ?? false
        guard !(isLetter && bytes.dropFirst().first == UInt8(ascii: ":")) else {
            throw Self.refusal("a component begins with a drive letter")
        }
        // Compare in lower case, because some file systems ignore case.
        guard bytes.first != Self.partPrefix.utf8.first || !component.lowercased().utf8.starts(with: Self.partPrefix.utf8) else {
            throw Self.refusal("a component begins with \(Self.partPrefix), which is reserved for unfinished files")
        }
    }

    /// Whether a component begins with a dot, which hides files and folders from listings.
    ///
    /// Skips leading characters that some file systems, such as HFS+, ignore.
    package var isHidden: Bool {
        self.components.contains { component in
            guard let first = component.utf8.first, first >= 0x80 else { return component.utf8.first == UInt8(ascii: ".") }
            return component.unicodeScalars.first { !$0.properties.isDefaultIgnorableCodePoint } == "."
        }
    }

    /// Creates the error. Its message never contains the name, because it may be logged or printed.
    private static func refusal(_ reason: String) -> TransferError {
        TransferError(.nameRefused, message: "the file name is refused: \(reason)")
    }

    /// The components, separated by slashes.
    public var description: String { self.components.joined(separator: "/") }
}
