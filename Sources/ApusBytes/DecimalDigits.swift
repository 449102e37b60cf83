extension FixedWidthInteger {
    /// Parses a number that consists of ASCII digits only, the `1*DIGIT` of RFC 9110 for example.
    /// Returns nil for any other text, such as a number with a sign, and for a number that the type
    /// cannot represent.
    ///
    /// `init(_:)` of the standard library also accepts a sign.
    @inlinable
    package init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        self.init(text)
    }
}
