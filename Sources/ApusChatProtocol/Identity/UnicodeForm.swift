import Foundation

/// The normalization forms of Unicode (UAX 15).
///
/// The text is decomposed before it is composed. Foundation for Linux does not compose a character
/// with a mark whose compatibility form follows it, such as U+FF76 and U+FF9E, or a syllable of
/// Hangul with a final consonant.
enum UnicodeForm {
    /// Returns the Normalization Form C of a text.
    static func composed(_ text: String) -> String {
        text.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
    }

    /// Returns the Normalization Form KC of a text.
    static func compatible(_ text: String) -> String {
        text.decomposedStringWithCompatibilityMapping.precomposedStringWithCanonicalMapping
    }
}
