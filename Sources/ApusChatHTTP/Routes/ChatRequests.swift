package import ApusChatProtocol
package import ApusJSON

/// Answers the verbs of the chat for the HTTP mirror, in the same way as the gateway answers them
/// for a connection.
package protocol ChatRequests: Sendable {
    /// Answers a request of a session.
    ///
    /// - Throws: The error with which the request is refused.
    func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
        -> JSONValue

    /// Answers a reading request of an export. It is not charged, because the export is charged as
    /// a whole.
    ///
    /// - Throws: The error with which the request is refused; `unsupported` for a verb that changes
    ///   data.
    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue

    /// Returns the reason for which messages cannot be written; nil if they can be.
    func writeFailure() async -> String?
}
