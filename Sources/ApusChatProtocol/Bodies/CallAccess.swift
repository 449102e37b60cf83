/// The access of a device to the room of a media server. Calls use a media server in groups with
/// more members than the number of devices that can connect directly.
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
}

extension CallAccess: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.backend = try reader.string("backend", minimum: 1, maximum: 40)
        self.url = try reader.string("url", minimum: 1, maximum: 500)
        self.token = try reader.string("token", minimum: 1, maximum: 4_000)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("backend", self.backend)
        writer.write("url", self.url)
        writer.write("token", self.token)
    }
}
