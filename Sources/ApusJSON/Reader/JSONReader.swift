/// Reads JSON text.
///
/// Source: RFC 8259, without extensions. A byte order mark (section 8.1), trailing bytes, leading
/// zeros, comments and invalid UTF-8 are errors. Where the RFC leaves a choice: the last of
/// repeated names takes precedence (see ``Limits/refusesRepeatedNames``), a lone surrogate is an
/// error (see ``Limits/loneSurrogates``), a number beyond the range of `Double` is an error, and a
/// number too close to zero becomes zero.
public enum JSONReader {
    /// The limits of a text.
    public struct Limits: Hashable, Sendable {
        /// The highest limit of the nesting depth.
        ///
        /// Values are read and written with at most 16 levels of recursion, but Swift compares and
        /// releases them by recursion: this depth fits the smallest thread stack, of 512 KiB.
        public static let highestDepth = 512

        /// The maximum nesting depth of arrays and objects.
        ///
        /// Unit: levels. Default: 128, far above usual messages. Values outside of
        /// 1…``highestDepth`` are clamped.
        public var maximumDepth: Int {
            didSet { self.maximumDepth = Self.clamped(self.maximumDepth) }
        }

        /// The maximum length of a number that has too many digits, or too large an exponent, for
        /// the reader's fast conversion.
        ///
        /// Unit: bytes. Default: 1,024; 770 digits determine any `Double`. A number of at most 15
        /// digits with a power of ten from -22 to 22 is accepted at any length.
        public var maximumNumberBytes: Int

        /// Whether a repeated name in an object is an error, as RFC 7493 (I-JSON) requires, instead
        /// of the last value taking precedence.
        ///
        /// Default: `false`. Set it to `true` if another reader of the same text must not read a
        /// different value.
        public var refusesRepeatedNames = false

        /// The treatment of a `\u` escape that is a lone surrogate.
        ///
        /// Default: ``LoneSurrogatePolicy/refuse``.
        public var loneSurrogates: LoneSurrogatePolicy

        /// Creates limits, with defaults for messages from a peer.
        ///
        /// - Parameters:
        ///   - maximumDepth: The maximum nesting depth of arrays and objects.
        ///   - maximumNumberBytes: The maximum length of a number; see ``maximumNumberBytes``.
        ///   - loneSurrogates: The treatment of a lone surrogate.
        public init(maximumDepth: Int = 128, maximumNumberBytes: Int = 1024, loneSurrogates: LoneSurrogatePolicy = .refuse) {
            self.maximumDepth = Self.clamped(maximumDepth)
            self.maximumNumberBytes = maximumNumberBytes
            self.loneSurrogates = loneSurrogates
        }

        private static func clamped(_ depth: Int) -> Int { min(max(depth, 1), Self.highestDepth) }
    }

    /// The treatment of a lone surrogate, which RFC 8259's grammar allows and a Swift string cannot
    /// contain.
    ///
    /// JavaScript writes one for a text that is cut within an emoji (`"🐦".slice(0, 1)`). RFC 8259
    /// section 8.2 calls the result unpredictable.
    public enum LoneSurrogatePolicy: Hashable, Sendable {
        /// Throws ``JSONError/Code/loneSurrogate``, so that no text is changed silently.
        case refuse
        /// Reads the escape as U+FFFD, the replacement character. Suits text for display.
        case replace
    }

    /// Reads one value, optionally surrounded by whitespace.
    ///
    /// - Parameters:
    ///   - bytes: The JSON text in UTF-8.
    ///   - limits: The limits of the text.
    /// - Throws: ``JSONError`` for text that is not valid JSON or exceeds a limit.
    public static func read(_ bytes: UnsafeRawBufferPointer, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, limits: limits)
        return try parser.document()
    }

    /// Reads one value from UTF-8 bytes. Contiguous collections, such as arrays and the views of
    /// byte buffers, are not copied.
    ///
    /// - Parameters:
    ///   - bytes: The JSON text in UTF-8.
    ///   - limits: The limits of the text.
    /// - Throws: ``JSONError`` for text that is not valid JSON or exceeds a limit.
    public static func read(_ bytes: some Collection<UInt8>, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable { Self.result(UnsafeRawBufferPointer($0), limits: limits) }
        if let result { return try result.get() }
        return try Array(bytes).withUnsafeBytes { Self.result($0, limits: limits) }.get()
    }

    /// Reads one value from text.
    ///
    /// - Parameters:
    ///   - text: The JSON text.
    ///   - limits: The limits of the text.
    /// - Throws: ``JSONError`` for text that is not valid JSON or exceeds a limit.
    public static func read(_ text: some StringProtocol, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        try Self.read(text.utf8, limits: limits)
    }

    /// Closures of the standard library do not rethrow typed errors, so this function returns a
    /// `Result`.
    private static func result(_ bytes: UnsafeRawBufferPointer, limits: Limits) -> Result<JSONValue, JSONError> {
        do throws(JSONError) { return .success(try Self.read(bytes, limits: limits)) } catch { return .failure(error) }
    }
}
