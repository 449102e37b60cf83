/// The answer to `GET /api/server`: the properties that a client needs before it has a session.
package struct ServerAnswer: Hashable, WireObject {
    /// The name of the server.
    package var name: String
    /// The version of the program.
    package var version: String
    /// The users who can create accounts.
    package var registration: Registration
    /// The features of the server.
    package var features: [String]
    /// The limits of requests and uploads.
    package var limits: HelloLimits
    /// The public key of the server for Web Push, in base64url.
    package var pushKey: String?

    package init(
        name: String, version: String, registration: Registration, features: [String] = [], limits: HelloLimits, pushKey: String? = nil
    ) {
        self.name = name
        self.version = version
        self.registration = registration
        self.features = features
        self.limits = limits
        self.pushKey = pushKey
    }

    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.string("name", minimum: 1, maximum: ChatLimits.titleLength)
        self.version = try reader.string("version", minimum: 1, maximum: 40)
        self.registration = try reader.choice("registration")
        self.features = try reader.strings("features", length: 40, maximum: 100)
        self.limits = try reader.object("limits")
        self.pushKey = try reader.stringIfPresent("push_key", minimum: 1, maximum: 100)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", self.name)
        writer.write("version", self.version)
        writer.write("registration", self.registration)
        writer.write("features", ifAny: self.features)
        writer.write("limits", self.limits)
        writer.write("push_key", ifPresent: self.pushKey)
    }
}

/// The users who can create accounts.
package enum Registration: String, WireChoice {
    /// All users can create accounts.
    case open
    /// Users with an invitation can create accounts.
    case invitation
    /// Only operators can create accounts.
    case closed
    /// A value that a later version of the server defines. Treat it as `closed`.
    case unknown
}
