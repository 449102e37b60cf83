/// The access of a device to the room of a media server, which carries a call of more participants
/// than the devices can connect to directly.
public struct CallAccess: Hashable, Sendable {
    /// The kind of the media server, such as `livekit`.
    public var backend: String
    /// The address of the media server, for its client library.
    public var url: String
    /// The token that names the user, the device and the room.
    public var token: String

    package init(backend: String, url: String, token: String) {
        self.backend = backend
        self.url = url
        self.token = token
    }

    /// Reads the fields of an answer; nil if the call has no media server.
    package init?(from reader: WireReader) throws(WireError) {
        guard let backend = try reader.stringIfPresent("backend", minimum: 1, maximum: 40) else { return nil }
        self.backend = backend
        self.url = try reader.string("url", minimum: 1, maximum: 500)
        self.token = try reader.string("token", minimum: 1, maximum: 4_000)
    }

    package static func write(_ access: CallAccess?, to writer: inout WireWriter) {
        guard let access else { return }
        writer.write("backend", access.backend)
        writer.write("url", access.url)
        writer.write("token", access.token)
    }
}
