import ApusChatProtocol

/// The calls of one legacy connection.
struct LegacyCalls: Sendable {
    /// The call in which the app takes part.
    var joined: LegacyRoom?
    /// The other devices of the joined call of which the app was notified.
    var peers: Set<DeviceID> = []
    /// The other user of the joined call.
    var peer: UserName?
    /// The call that rings in the app, or that the app has started.
    var ringing: LegacyRoom?
}
