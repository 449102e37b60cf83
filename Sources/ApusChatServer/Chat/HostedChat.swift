package import ApusChatCore
package import ApusChatHTTP
package import ApusChatProtocol
package import ApusChatService
package import ApusChatStorage
package import ApusJSON
package import ApusSocketIOServer
package import ApusWebSocket

/// The chat of a server: decides, stores and pushes messages.
package protocol HostedChat: Sendable {
    /// The rows of accounts. The thread that writes messages also writes these rows.
    var database: any AccountDatabase { get }

    /// The handler of the verbs over HTTP.
    var requests: any ChatRequests { get }

    /// Serves the namespace of the chat. Called once, before the server listens.
    ///
    /// - Parameters:
    ///   - accounts: Determines the session of a connection.
    ///   - proxies: Determine the address of a client.
    func attach(to server: SocketIOServer, accounts: Accounts, proxies: TrustedProxies)

    /// Adds a connection for which the server translates another protocol, such as that of
    /// `LegacyServer`. Call this method after `attach`.
    ///
    /// - Parameters:
    ///   - watchesPresence: Whether the connection receives the presence of every user that all
    ///     users can find and whose presence is visible to all users.
    ///   - receive: Receives each push after the answer to `hello`, with its name. It must not
    ///     block.
    func translate(
        _ socket: SocketIOServerSocket, of requester: Requester, watchesPresence: Bool,
        receive: @escaping @Sendable (_ push: String, _ value: JSONValue) -> Void
    ) throws(ChatError) -> TranslatedConnection

    /// Returns whether a device of the user is connected.
    func isOnline(_ user: UserKey) -> Bool

    /// Starts to deliver notifications for devices. Called at most once.
    func notify(_ deliver: @escaping @Sendable ([PushNotice]) -> Void)

    /// Starts to deliver new and edited texts, for previews of their links. Called at most once.
    ///
    /// - Parameter deliver: Receives the texts of each commit. It must not block.
    func tellTexts(_ deliver: @escaping @Sendable ([CommittedText]) -> Void)

    /// Adds a preview to a text message, unless the body of the message has changed since the page
    /// was requested.
    func add(_ preview: PreviewCommand)

    /// Runs the periodic work of the chat until the task is cancelled.
    func run() async

    /// Closes the connections of devices whose session has ended.
    func end(_ devices: [DeviceKey])

    /// Appends the beginning and the end of sessions to the users' self conversations.
    func note(_ changes: [SessionChange])

    /// Notifies all clients that the server is closing.
    func announceShutdown()

    /// Commits the waiting commands, refuses further ones, and stops the threads.
    func close() async
}
