/// The answer to `POST /api/totp`: the secret of an authenticator (RFC 6238).
package struct AuthenticatorAnswer: Hashable, WireObject {
    /// The secret in base32.
    package var secret: String
    /// The secret as an `otpauth` URI.
    package var uri: String

    package init(secret: String, uri: String) {
        self.secret = secret
        self.uri = uri
    }

    package init(from reader: WireReader) throws(WireError) {
        self.secret = try reader.string("secret", minimum: 1, maximum: 64)
        self.uri = try reader.string("uri", minimum: 1, maximum: 1_500)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("secret", self.secret)
        writer.write("uri", self.uri)
    }
}

/// `POST /api/totp/confirm`: a code of the authenticator.
package struct AuthenticatorCodeRequest: Hashable, WireObject {
    package var code: String

    package init(code: String) {
        self.code = code
    }

    package init(from reader: WireReader) throws(WireError) {
        self.code = try reader.string("code", minimum: 1, maximum: 40)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("code", self.code)
    }
}
