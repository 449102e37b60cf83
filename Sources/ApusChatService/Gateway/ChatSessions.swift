package import ApusChatProtocol
package import ApusSocketIOServer

/// The access of the gateway to the accounts.
package protocol ChatSessions: Sendable {
    /// Returns the user and the device of a connection, determined from the token or the cookie of
    /// its handshake.
    ///
    /// - Throws: `unauthorized` if the session does not exist.
    func requester(of handshake: SocketIOHandshake) async throws(ChatError) -> Requester

    /// Answers the verb `devices`.
    func devices(of requester: Requester) async throws(ChatError) -> DevicesAnswer

    /// Answers the verb `push.set`.
    func setPush(_ request: PushSetRequest, of requester: Requester) async throws(ChatError)

    /// Answers the verb `device.remove`.
    func removeDevice(_ request: DeviceRemoveRequest, of requester: Requester) async throws(ChatError) -> ChangeAnswer
}
