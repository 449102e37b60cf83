package import ApusJSON

/// `call.start`: calls the other members, or returns the call that is in progress. If two members
/// call each other at the same time, the later request returns the earlier call, which its client
/// then accepts.
package struct CallStartRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The media: `audio` or `video`.
    package var media: CallMedia
    /// The kinds of media servers whose calls the client can join, such as `livekit`.
    package var backends: [String]

    package init(id: ClientID, conversation: ConversationID, media: CallMedia, backends: [String] = []) {
        self.id = id
        self.conversation = conversation
        self.media = media
        self.backends = backends
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.media = try reader.knownChoice("media")
        self.backends = try reader.strings("backends", length: 40, maximum: 10)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("media", self.media)
        writer.write("backends", ifAny: self.backends)
    }
}

/// The answer to `call.start`.
package struct CallAnswer: Hashable, WireObject {
    package var conversation: ConversationID
    /// The `seq` of the call.
    package var call: Int64
    /// The time at which the call was stored, in milliseconds since 1970.
    package var at: Int64
    /// The access to the media server that carries the call; nil if the devices connect to each
    /// other.
    package var access: CallAccess?

    package init(conversation: ConversationID, call: Int64, at: Int64, access: CallAccess? = nil) {
        self.conversation = conversation
        self.call = call
        self.at = at
        self.access = access
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.call = try reader.integer("call", in: WireReader.seqs)
        self.at = try reader.integer("at")
        self.access = try reader.objectIfPresent("access")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("call", self.call)
        writer.write("at", self.at)
        writer.write("access", ifPresent: self.access)
    }
}

/// `call.update`: accepts, declines, leaves or ends a call.
package struct CallUpdateRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the call.
    package var call: Int64
    /// The new state: `accepted`, `declined`, `busy` or `ended`. In an accepted call of a group,
    /// `ended` means that the device leaves.
    package var state: CallState

    package init(id: ClientID, conversation: ConversationID, call: Int64, state: CallState) {
        self.id = id
        self.conversation = conversation
        self.call = call
        self.state = state
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.call = try reader.integer("call", in: WireReader.seqs)
        self.state = try reader.knownChoice("state")
        guard [.accepted, .declined, .busy, .ended].contains(self.state) else {
            throw WireError(.invalid, field: "state", rule: "must be `accepted`, `declined`, `busy` or `ended`")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("call", self.call)
        writer.write("state", self.state)
    }
}

/// The answer to `call.update`.
package struct CallUpdateAnswer: Hashable, WireObject {
    package var change: ChangeAnswer
    /// After `accepted`, the access to the media server that carries the call; nil if the devices
    /// connect to each other.
    package var access: CallAccess?

    package init(_ change: ChangeAnswer, access: CallAccess? = nil) {
        self.change = change
        self.access = access
    }

    package init(from reader: WireReader) throws(WireError) {
        self.change = try ChangeAnswer(from: reader)
        self.access = try reader.objectIfPresent("access")
    }

    package func write(to writer: inout WireWriter) {
        self.change.write(to: &writer)
        writer.write("access", ifPresent: self.access)
    }
}

/// The answer to `call.servers`: the STUN and TURN servers (RFC 8656).
package struct CallServersAnswer: Hashable, WireObject {
    package var servers: [CallServer]
    /// The time at which the credentials expire, in milliseconds since 1970.
    package var expiresAt: Int64
    /// Whether the devices use TURN servers only.
    package var isRelayOnly: Bool

    package init(servers: [CallServer], expiresAt: Int64, isRelayOnly: Bool = false) {
        self.servers = servers
        self.expiresAt = expiresAt
        self.isRelayOnly = isRelayOnly
    }

    package init(from reader: WireReader) throws(WireError) {
        self.servers = try reader.objects("servers", maximum: 20)
        self.expiresAt = try reader.integer("expires_at")
        self.isRelayOnly = try reader.bool("relay_only")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("servers", all: self.servers)
        writer.write("expires_at", self.expiresAt)
        writer.write("relay_only", ifTrue: self.isRelayOnly)
    }
}

/// A STUN or TURN server.
package struct CallServer: Hashable, WireObject {
    /// The URLs (RFC 7064, RFC 7065).
    package var urls: [String]
    /// The user name for a TURN server; nil for a STUN server.
    package var username: String?
    /// The password for a TURN server; nil for a STUN server.
    package var credential: String?

    package init(urls: [String], username: String? = nil, credential: String? = nil) {
        self.urls = urls
        self.username = username
        self.credential = credential
    }

    package init(from reader: WireReader) throws(WireError) {
        self.urls = try reader.strings("urls", length: 500, minimum: 1, maximum: 10)
        self.username = try reader.stringIfPresent("username", minimum: 1, maximum: 500)
        self.credential = try reader.stringIfPresent("credential", minimum: 1, maximum: 500)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("urls", all: self.urls)
        writer.write("username", ifPresent: self.username)
        writer.write("credential", ifPresent: self.credential)
    }
}

/// `signal`: sends data of a call to a device, or to the devices that take part in the call. The
/// data is not stored.
package struct SignalRequest: Hashable, WireObject {
    package var conversation: ConversationID
    /// The `seq` of the call.
    package var call: Int64
    /// The recipient; nil for the devices of other users in the call.
    package var recipient: UserName?
    /// The device of the recipient; nil for all devices. Ignored without a recipient.
    package var device: DeviceID?
    /// The data. The server forwards it unchanged.
    package var data: JSONObject

    package init(conversation: ConversationID, call: Int64, recipient: UserName? = nil, device: DeviceID? = nil, data: JSONObject) {
        self.conversation = conversation
        self.call = call
        self.recipient = recipient
        self.device = device
        self.data = data
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.call = try reader.integer("call", in: WireReader.seqs)
        self.recipient = try reader.textIfPresent("to")
        self.device = try reader.textIfPresent("device")
        self.data = try reader.free("data")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("call", self.call)
        writer.write("to", ifPresent: self.recipient)
        writer.write("device", ifPresent: self.device)
        writer.write("data", self.data)
    }
}

/// The push `signal`: data of a call from a device.
package struct SignalPush: Hashable, WireObject {
    package var conversation: ConversationID
    /// The `seq` of the call.
    package var call: Int64
    package var sender: UserName
    /// The device of the sender.
    package var device: DeviceID
    package var data: JSONObject

    package init(conversation: ConversationID, call: Int64, sender: UserName, device: DeviceID, data: JSONObject) {
        self.conversation = conversation
        self.call = call
        self.sender = sender
        self.device = device
        self.data = data
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.call = try reader.integer("call", in: WireReader.seqs)
        self.sender = try reader.text("from")
        self.device = try reader.text("device")
        self.data = try reader.free("data")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("call", self.call)
        writer.write("from", self.sender)
        writer.write("device", self.device)
        writer.write("data", self.data)
    }
}
