/// The features of clients and servers beyond the version of the protocol.
package enum ChatFeature {
    /// The version of the protocol. It increases only with a change that older clients do not
    /// understand.
    package static let protocolVersion: Int64 = 1
    /// The features that this version supports, as sent in `hello`.
    package static let all = [
        "edit", "recall", "react", "pin", "threads", "forward", "polls", "drafts", "scheduled", "disappearing", "links", "contacts",
        "search", "calls", "tus", "typing", "presence", "receipts",
    ]
}

/// A feature whose pushes are sent only to clients that support it.
package enum PushFeature: String, CaseIterable, Sendable {
    case calls, presence, receipts, typing
}

/// The device of a client.
package struct HelloDevice: Hashable, WireObject {
    /// The name that the list of sessions shows, such as "Firefox on Linux".
    package var name: String
    /// The platform: `web`, `ios`, `android`, `macos`, `linux`, `windows`, `terminal` or another
    /// word.
    package var platform: String
    /// The capabilities of the device, such as `call.audio` or `push.web`.
    package var capabilities: [String]

    package init(name: String, platform: String, capabilities: [String] = []) {
        self.name = name
        self.platform = platform
        self.capabilities = capabilities
    }

    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.string("name", minimum: 1, maximum: ChatLimits.nickLength)
        self.platform = try reader.string("platform", minimum: 1, maximum: 20)
        self.capabilities = try reader.strings("capabilities", length: 40, maximum: 40)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", self.name)
        writer.write("platform", self.platform)
        writer.write("capabilities", ifAny: self.capabilities)
    }
}

/// `hello`: the first request of a connection, which opens the session.
package struct HelloRequest: Hashable, WireObject {
    /// The highest protocol version of the client.
    package var version: Int64
    /// The features of the client.
    package var features: [String]
    /// The maximum size of an answer that the client can read, in bytes.
    package var frameBytes: Int64?
    package var device: HelloDevice
    /// The data epoch of the data that the client has cached.
    package var epoch: PageToken?
    /// A `sync` that is answered together with `hello`, so that a reconnection requires one
    /// request.
    package var sync: SyncRequest?

    package init(
        version: Int64 = ChatFeature.protocolVersion, features: [String] = ChatFeature.all, frameBytes: Int64? = nil, device: HelloDevice,
        epoch: PageToken? = nil, sync: SyncRequest? = nil
    ) {
        self.version = version
        self.features = features
        self.frameBytes = frameBytes
        self.device = device
        self.epoch = epoch
        self.sync = sync
    }

    /// The features whose pushes the client does not receive. A client that lists no features
    /// receives all pushes. A device that lists capabilities without calls receives no signals of
    /// calls.
    package var omittedPushes: Set<PushFeature> {
        var omitted: Set<PushFeature> = []
        if !self.features.isEmpty { omitted = Set(PushFeature.allCases.filter { !self.features.contains($0.rawValue) }) }
        let capabilities = self.device.capabilities
        if !capabilities.isEmpty, !capabilities.contains(where: { $0.hasPrefix("call.") }) { omitted.insert(.calls) }
        return omitted
    }

    package init(from reader: WireReader) throws(WireError) {
        self.version = try reader.integer("version", in: 1...1_000_000)
        self.features = try reader.strings("features", length: 40, maximum: 100)
        self.frameBytes = try reader.integerIfPresent("frame_bytes", in: 1_024...WireReader.largestInteger)
        self.device = try reader.object("device")
        self.epoch = try reader.textIfPresent("epoch")
        self.sync = try reader.objectIfPresent("sync")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("version", self.version)
        writer.write("features", ifAny: self.features)
        writer.write("frame_bytes", ifPresent: self.frameBytes)
        writer.write("device", self.device)
        writer.write("epoch", ifPresent: self.epoch)
        writer.write("sync", ifPresent: self.sync)
    }
}

/// The answer to `hello`.
package struct HelloAnswer: Hashable, WireObject {
    /// The protocol version of the session: the lower of the versions of the client and the server.
    package var version: Int64
    package var features: [String]
    package var limits: HelloLimits
    /// The data epoch. It is renewed when the server's data is restored, imported or copied. A
    /// client with another epoch discards its cache and keeps its unsent messages.
    package var epoch: PageToken
    /// The server's time, in milliseconds since 1970.
    package var at: Int64
    package var user: ChatUser
    package var device: DeviceID
    /// The conversation of kind `self` of the user.
    package var own: ConversationID
    /// The answer to the `sync` of the request. Nil if the request had no `sync`, if the data epoch
    /// has changed, or if the token of the `sync` is too old.
    package var sync: SyncAnswer?

    package init(
        version: Int64 = ChatFeature.protocolVersion, features: [String] = ChatFeature.all, limits: HelloLimits = HelloLimits(),
        epoch: PageToken, at: Int64, user: ChatUser, device: DeviceID, own: ConversationID, sync: SyncAnswer? = nil
    ) {
        self.version = version
        self.features = features
        self.limits = limits
        self.epoch = epoch
        self.at = at
        self.user = user
        self.device = device
        self.own = own
        self.sync = sync
    }

    package init(from reader: WireReader) throws(WireError) {
        self.version = try reader.integer("version", in: 1...1_000_000)
        self.features = try reader.strings("features", length: 40, maximum: 100)
        self.limits = try reader.object("limits")
        self.epoch = try reader.text("epoch")
        self.at = try reader.integer("at")
        self.user = try reader.object("user")
        self.device = try reader.text("device")
        self.own = try reader.text("self")
        self.sync = try reader.objectIfPresent("sync")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("version", self.version)
        writer.write("features", ifAny: self.features)
        writer.write("limits", self.limits)
        writer.write("epoch", self.epoch)
        writer.write("at", self.at)
        writer.write("user", self.user)
        writer.write("device", self.device)
        writer.write("self", self.own)
        writer.write("sync", ifPresent: self.sync)
    }
}

/// The limits of the server that a client needs before it sends requests.
package struct HelloLimits: Hashable, WireObject {
    package var requestBytes: Int64
    package var textLength: Int64
    package var blobBytes: Int64
    package var groupMembers: Int64
    /// The time for which the sender can edit a message, in seconds.
    package var editSeconds: Int64
    /// The time for which the sender can recall a message, in seconds.
    package var recallSeconds: Int64

    package init(
        requestBytes: Int64 = Int64(ChatLimits.requestBytes), textLength: Int64 = Int64(ChatLimits.textLength),
        blobBytes: Int64 = ChatLimits.blobBytes, groupMembers: Int64 = Int64(ChatLimits.groupMembers), editSeconds: Int64 = 172_800,
        recallSeconds: Int64 = 172_800
    ) {
        self.requestBytes = requestBytes
        self.textLength = textLength
        self.blobBytes = blobBytes
        self.groupMembers = groupMembers
        self.editSeconds = editSeconds
        self.recallSeconds = recallSeconds
    }

    package init(from reader: WireReader) throws(WireError) {
        self.requestBytes = try reader.integer("request_bytes")
        self.textLength = try reader.integer("text_length")
        self.blobBytes = try reader.integer("blob_bytes")
        self.groupMembers = try reader.integer("group_members")
        self.editSeconds = try reader.integer("edit_seconds")
        self.recallSeconds = try reader.integer("recall_seconds")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("request_bytes", self.requestBytes)
        writer.write("text_length", self.textLength)
        writer.write("blob_bytes", self.blobBytes)
        writer.write("group_members", self.groupMembers)
        writer.write("edit_seconds", self.editSeconds)
        writer.write("recall_seconds", self.recallSeconds)
    }
}
