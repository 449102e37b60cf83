/// The wire format of a framed connection.
public struct Framing: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
        case fixedHeader(length: Int)
        case version2
        case either(headerLength: Int)
    }

    package let form: Form

    /// The fixed mode, for peers such as SocketDemo: a JSON header, padded to an agreed length, and
    /// a body.
    ///
    /// - Parameter length: The length of the header in bytes, within
    ///   ``FixedHeader/agreeableLengths``. Default: 100, as in SocketDemo.
    public static func fixedHeader(length: Int = 100) -> Self { Self(form: .fixedHeader(length: length)) }

    /// Version 2: headers of variable length, hello, ping and bye frames, and interleaved
    /// transfers.
    public static let version2 = Self(form: .version2)

    /// Version 2 and the fixed mode on one port, distinguished by the client's first byte. Valid
    /// for servers only.
    ///
    /// - Parameter headerLength: The length of the header in the fixed mode, in bytes. Default:
    ///   100.
    public static func either(headerLength: Int = 100) -> Self { Self(form: .either(headerLength: headerLength)) }

    /// Checks that a client or a server can use the framing.
    ///
    /// - Throws: ``FramedError/Code/invalidConfiguration`` for a header length outside
    ///   ``FixedHeader/agreeableLengths``, and for a client configured with
    ///   ``either(headerLength:)``.
    package func validate(isClient: Bool) throws(FramedError) {
        func invalid(_ message: String) -> FramedError { FramedError(.invalidConfiguration, message: message) }
        let length: Int
        switch self.form {
        case .version2: return
        case .fixedHeader(let headerLength): length = headerLength
        case .either(let headerLength):
            guard !isClient else { throw invalid("`framing` of a client must be .version2 or .fixedHeader, not .either") }
            length = headerLength
        }
        let lengths = FixedHeader.agreeableLengths
        guard lengths.contains(length) else {
            throw invalid("the header length of `framing` must be from \(lengths.lowerBound) to \(lengths.upperBound), not \(length)")
        }
    }
}
