/// How messages lie on the wire of a framed connection.
public struct Framing: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
        case fixedHeader(length: Int)
        case version2
        case either(headerLength: Int)
    }

    package let form: Form

    /// The fixed mode, for peers like SocketDemo: a JSON header, padded to a length both sides know, and a body.
    ///
    /// - Parameter length: The length of the header in bytes, one of ``FixedHeader/agreeableLengths``. Default: 100, the demo's.
    public static func fixedHeader(length: Int = 100) -> Self { Self(form: .fixedHeader(length: length)) }

    /// Version 2: headers of any length, a hello, pings, a goodbye, and several things under way at once.
    public static let version2 = Self(form: .version2)

    /// For servers: version 2 and the fixed mode on one port, told apart by the first byte a client sends.
    ///
    /// - Parameter headerLength: The length of the header in the fixed mode, in bytes. Default: 100.
    public static func either(headerLength: Int = 100) -> Self { Self(form: .either(headerLength: headerLength)) }

    /// Says what cannot be done.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` for a header of no possible length, and for a client that leaves the choice to the server.
    package func validate(isClient: Bool) throws(FramedError) {
        switch self.form {
        case .version2: break
        case .fixedHeader(let length): _ = try FixedHeaderDecoder(headerLength: length)
        case .either(let length):
            guard !isClient else { throw FramedError(.invalidUse, message: "a client speaks one framing, not either") }
            _ = try FixedHeaderDecoder(headerLength: length)
        }
    }
}
