package import ApusChatProtocol
package import ApusSocketIOServer

/// The accounts of a chat, as the gateway needs them.
package protocol ChatSessions: Sendable {
    /// Returns who a connection belongs to, by the token or the cookie of its handshake.
    ///
    /// - Throws: `unauthorized`.
    func requester(of handshake: SocketIOHandshake) async throws(ChatError) -> Requester

    /// Answers `devices`.
    func devices(of requester: Requester) async throws(ChatError) -> DevicesAnswer

    /// Carries out `push.set`.
    func setPush(_ request: PushSetRequest, of requester: Requester) async throws(ChatError)

    /// Answers `device.remove`.
    func removeDevice(_ request: DeviceRemoveRequest, of requester: Requester) async throws(ChatError) -> ChangeAnswer
}
