import ApusChatProtocol

/// The calls of one legacy connection.
struct LegacyCalls: Sendable {
    /// The call in which the app takes part.
    var joined: LegacyRoom?
    /// The other devices of that call that the app has been informed of.
    var peers: Set<DeviceID> = []
    /// The other user of that call.
    var peer: UserName?
    /// The call that rings in the app, or that the app has started.
    var ringing: LegacyRoom?
}
