package import ApusChatProtocol
package import ApusJSON

/// Answers the verbs of the chat for the HTTP mirror, as the gateway does for a connection.
package protocol ChatRequests: Sendable {
    /// Answers a request of a session.
    ///
    /// - Throws: The refusal.
    func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
        -> JSONValue

    /// Answers a reading request for an export, without a charge: the export is charged as a whole.
    ///
    /// - Throws: The refusal, `unsupported` for a verb that changes something.
    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue

    /// Whether messages can be written; nil if they can, else the reason.
    func writeFailure() async -> String?
}
