/// Reads JSON text.
///
/// Source: RFC 8259, whole and strict. No byte order mark (section 8.1), nothing after the value, no leading zeros, no comments, no
/// invalid UTF-8. Where the RFC leaves a choice: the last of repeated names wins (see
/// ``Limits/refusesRepeatedNames``), lone surrogates are refused (see ``Limits/loneSurrogates``), a number too large for a
/// `Double` is refused, one too small becomes zero.
public enum JSONReader {
    /// What a text may ask of the reader.
    public struct Limits: Hashable, Sendable {
        /// The deepest nesting that can be set.
        ///
        /// Values are read and written without recursion, but Swift compares and releases them by recursion: this many levels
        /// fit the smallest thread, of 512 KiB.
        public static let highestDepth = 512

        /// How many arrays and objects may stand inside each other.
        ///
        /// Unit: levels. Default: 128, far above what messages use. Values outside 1…``highestDepth`` are moved into it.
        public var maximumDepth: Int {
            didSet { self.maximumDepth = Self.clamped(self.maximumDepth) }
        }

        /// How long a number with more digits than a `Double` holds may be.
        ///
        /// Unit: bytes. Default: 1,024; a `Double` is settled by 770 digits.
        public var maximumNumberBytes: Int

        /// Whether a text that repeats a name within an object is refused, as RFC 7493 (I-JSON) demands, and not read with the last value.
        ///
        /// Default: `false`. Set it where another reader of the same text must not see something else.
        public var refusesRepeatedNames = false

        /// What becomes of a `\u` escape that is half of a surrogate pair without the other half.
        ///
        /// Default: ``LoneSurrogatePolicy/refuse``.
        public var loneSurrogates: LoneSurrogatePolicy

        /// Limits for messages from a peer.
        public init(maximumDepth: Int = 128, maximumNumberBytes: Int = 1024, loneSurrogates: LoneSurrogatePolicy = .refuse) {
            self.maximumDepth = Self.clamped(maximumDepth)
            self.maximumNumberBytes = maximumNumberBytes
            self.loneSurrogates = loneSurrogates
        }

        private static func clamped(_ depth: Int) -> Int { min(max(depth, 1), Self.highestDepth) }
    }

    /// How half of a surrogate pair is read: RFC 8259's grammar allows one, and a Swift string cannot hold it.
    ///
    /// JavaScript writes one when a text was cut within an emoji (`"🐦".slice(0, 1)`). RFC 8259 section 8.2 calls the result
    /// unpredictable.
    public enum LoneSurrogatePolicy: Hashable, Sendable {
        /// The text is refused with ``JSONError/Code/loneSurrogate``, so that nothing is changed silently.
        case refuse
        /// The half is read as U+FFFD, the replacement character, as text that people read should be.
        case replace
    }

    /// Reads one value, with nothing but whitespace around it.
    public static func read(_ bytes: UnsafeRawBufferPointer, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, limits: limits)
        return try parser.document()
    }

    /// Reads one value from UTF-8 bytes. Contiguous collections, such as arrays and the views of byte buffers, are not copied.
    public static func read(_ bytes: some Collection<UInt8>, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable { Self.result(UnsafeRawBufferPointer($0), limits: limits) }
        if let result { return try result.get() }
        return try Array(bytes).withUnsafeBytes { Self.result($0, limits: limits) }.get()
    }

    /// Reads one value from text.
    public static func read(_ text: some StringProtocol, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        try Self.read(text.utf8, limits: limits)
    }

    /// The closures of the standard library do not pass typed errors on; a `Result` goes through them.
    private static func result(_ bytes: UnsafeRawBufferPointer, limits: Limits) -> Result<JSONValue, JSONError> {
        do throws(JSONError) { return .success(try Self.read(bytes, limits: limits)) } catch { return .failure(error) }
    }
}
