import ApusChatCore
public import ApusChatProtocol

/// The state of a call on this device.
public enum CallPhase: Hashable, Sendable {
    /// There is no call.
    case idle
    /// The user started a call, and the server has not answered.
    case starting
    /// The call rings for the other users.
    case outgoing
    /// The call rings on this device.
    case incoming
    /// The user answered, and the server has not stored the answer.
    case joining
    /// The device takes part in the call.
    case active
    /// The call has ended on this device.
    case over(CallEndReason)

    init(_ phase: DeviceCallMachine.Phase) {
        self =
            switch phase {
            case .starting: .starting
            case .outgoing: .outgoing
            case .incoming: .incoming
            case .joining: .joining
            case .active: .active
            case .over(let reason): .over(CallEndReason(reason))
            }
    }
}

/// The reason for which a call ended on this device.
public enum CallEndReason: Hashable, Sendable {
    /// The user hung up.
    case hungUp
    /// No device of the other users answered.
    case noAnswer
    /// The other user, or this one, declined.
    case declined
    /// The other user is in another call.
    case busy
    /// The call rang here, and no device of the user answered.
    case missed
    /// Another device of the user takes part in the call.
    case elsewhere
    /// Another party ended the call.
    case ended
    /// The other device was not reached for 30 seconds, or left without a report of the end.
    case lost
    /// Four devices already take part in the call.
    case full
    /// The call could not be started, or the room of its media server could not be joined.
    case failed
    /// The call uses a media server for which the application has no client.
    case unsupported

    init(_ reason: DeviceCallMachine.Reason) {
        self =
            switch reason {
            case .hungUp: .hungUp
            case .noAnswer: .noAnswer
            case .declined: .declined
            case .busy: .busy
            case .missed: .missed
            case .elsewhere: .elsewhere
            case .ended: .ended
            case .lost: .lost
            case .full: .full
            case .failed: .failed
            case .unsupported: .unsupported
            }
    }
}

/// The media that a device sends.
public struct CallMediaState: Hashable, Sendable {
    /// Whether the microphone is on.
    public var microphone: Bool
    /// Whether the camera is on.
    public var camera: Bool
    /// Whether the screen is shared.
    public var screen: Bool

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - microphone: Whether the microphone is on. Default: `true`.
    ///   - camera: Whether the camera is on. Default: `false`.
    ///   - screen: Whether the screen is shared. Default: `false`.
    public init(microphone: Bool = true, camera: Bool = false, screen: Bool = false) {
        self.microphone = microphone
        self.camera = camera
        self.screen = screen
    }
}

/// Another device that takes part in a call.
public struct CallPeer: Hashable, Sendable, Identifiable {
    /// Identifies the participation of a device in a call.
    public struct ID: Hashable, Sendable {
        /// The user.
        public var user: UserName
        /// The device.
        public var device: DeviceID
        /// The name of this participation of the device in the call.
        public var session: String
    }

    /// The state of the connection to the device.
    public enum Connection: Hashable, Sendable {
        /// The connection is being established.
        case connecting
        /// Media is exchanged.
        case connected
        /// No media arrives. The connection can recover without an ICE restart.
        case disconnected
        /// The connection does not recover without an ICE restart, which the controller requests.
        case failed
    }

    /// The identity.
    public var id: ID
    /// The state of the connection.
    public var connection: Connection
    /// The media that the device sends.
    public var media: CallMediaState
    /// Whether the connection was established at least once.
    public var wasConnected: Bool
    /// The user.
    public var user: UserName { self.id.user }
}

/// The STUN and TURN servers of a call (RFC 8656).
public struct CallConfiguration: Hashable, Sendable {
    /// A server.
    public struct Server: Hashable, Sendable {
        /// The URLs (RFC 7064, RFC 7065).
        public var urls: [String]
        /// The user name for a TURN server; nil for a STUN server.
        public var username: String?
        /// The password for a TURN server; nil for a STUN server.
        public var credential: String?
    }

    /// The servers.
    public var servers: [Server]
    /// Whether only relayed paths may be used, so that the other devices do not learn the address
    /// of this one.
    public var isRelayOnly: Bool
    /// The time at which the passwords expire, in milliseconds since 1970; nil if they do not
    /// expire.
    var expiresAt: Int64?

    init(_ answer: CallServersAnswer? = nil) {
        self.servers = answer?.servers.map { Server(urls: $0.urls, username: $0.username, credential: $0.credential) } ?? []
        self.isRelayOnly = answer?.isRelayOnly ?? false
        self.expiresAt = self.servers.isEmpty ? nil : answer?.expiresAt
    }
}
