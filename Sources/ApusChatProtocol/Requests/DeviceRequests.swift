package import ApusJSON

/// A device with a session.
public struct ChatDevice: Hashable, Sendable, WireObject {
    /// The id of the device.
    public var device: DeviceID
    /// The name of the device.
    public var name: String
    /// The platform of the device.
    public var platform: String
    /// The time of the sign-in, in milliseconds since 1970.
    public var at: Int64
    /// The time of the last sign-in or renewal of the session, in milliseconds since 1970.
    public var lastSeen: Int64
    /// The network address of the last sign-in or renewal of the session; nil if it is not known.
    public var address: String?
    /// Whether this device sent the request.
    public var isCurrent: Bool

    package init(
        device: DeviceID, name: String, platform: String, at: Int64, lastSeen: Int64, address: String? = nil, isCurrent: Bool = false
    ) {
        self.device = device
        self.name = name
        self.platform = platform
        self.at = at
        self.lastSeen = lastSeen
        self.address = address
        self.isCurrent = isCurrent
    }

    package init(from reader: WireReader) throws(WireError) {
        self.device = try reader.text("device")
        self.name = try reader.string("name", minimum: 1, maximum: ChatLimits.nickLength)
        self.platform = try reader.string("platform", minimum: 1, maximum: 20)
        self.at = try reader.integer("at")
        self.lastSeen = try reader.integer("last_seen")
        self.address = try reader.stringIfPresent("address", minimum: 1, maximum: 64)
        self.isCurrent = try reader.bool("current")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("device", self.device)
        writer.write("name", self.name)
        writer.write("platform", self.platform)
        writer.write("at", self.at)
        writer.write("last_seen", self.lastSeen)
        writer.write("address", ifPresent: self.address)
        writer.write("current", ifTrue: self.isCurrent)
    }
}

/// The answer to `devices`.
package struct DevicesAnswer: Hashable, WireObject {
    /// The devices with a session, the last used device first.
    package var devices: [ChatDevice]
    /// Whether a sign-in requires a code from an authenticator.
    package var hasAuthenticator: Bool

    package init(devices: [ChatDevice], hasAuthenticator: Bool = false) {
        self.devices = devices
        self.hasAuthenticator = hasAuthenticator
    }

    package init(from reader: WireReader) throws(WireError) {
        self.devices = try reader.objects("devices", maximum: ChatLimits.devices)
        self.hasAuthenticator = try reader.bool("authenticator")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("devices", all: self.devices)
        writer.write("authenticator", ifTrue: self.hasAuthenticator)
    }
}

/// `device.remove`: ends the session of one device, or of all devices except the requesting one.
package struct DeviceRemoveRequest: Hashable, WireObject {
    package var id: ClientID
    /// The device whose session ends; nil if `isOthers` is true.
    package var device: DeviceID?
    /// Whether the sessions of all devices except the requesting one end.
    package var isOthers: Bool

    package init(id: ClientID, device: DeviceID? = nil, isOthers: Bool = false) {
        self.id = id
        self.device = device
        self.isOthers = isOthers
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.device = try reader.textIfPresent("device")
        self.isOthers = try reader.bool("others")
        guard (self.device != nil) != self.isOthers else {
            throw WireError(.invalid, field: "device", rule: "or `others` is required, but not both")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("device", ifPresent: self.device)
        writer.write("others", ifTrue: self.isOthers)
    }
}

/// `push.set`: sets the push subscription of the device. The device receives notifications while it
/// is not connected.
package struct PushSetRequest: Hashable, WireObject {
    package var id: ClientID
    /// The push service; `none` removes the subscription.
    package var service: PushService
    /// The subscription, in the format of the push service (RFC 8030 for `web`); nil for `none`.
    package var data: JSONObject?

    package init(id: ClientID, service: PushService, data: JSONObject? = nil) {
        self.id = id
        self.service = service
        self.data = data
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.service = try reader.knownChoice("kind")
        self.data = try reader.freeIfPresent("data")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("kind", self.service)
        writer.write("data", ifPresent: self.data)
    }
}

/// A service that delivers notifications.
package enum PushService: String, WireChoice {
    case web, apns, fcm, none
    case unknown
}
