package import ApusChatHTTP
package import ApusChatService
package import ApusChatStorage
package import ApusSocketIOServer
package import ApusWebSocket

/// The chat that a server runs: what decides, stores and pushes messages.
package protocol HostedChat: Sendable {
    /// The rows of accounts. The thread that writes messages runs their writes.
    var database: any AccountDatabase { get }

    /// Answers the HTTP mirror of the verbs.
    var requests: any ChatRequests { get }

    /// Serves the namespace of the chat. Called once, before the server listens.
    ///
    /// - Parameters:
    ///   - accounts: Finds the session of a connection.
    ///   - proxies: Find the address of a client.
    func attach(to server: SocketIOServer, accounts: Accounts, proxies: TrustedProxies)

    /// Begins to pass on the notifications of devices. Called at most once.
    func notify(_ deliver: @escaping @Sendable ([PushNotice]) -> Void)

    /// Does the work that no request causes, until the task is cancelled.
    func run() async

    /// Closes the connections of ended devices.
    func end(_ devices: [DeviceKey])

    /// Writes the sessions that began or ended to the logs of their users.
    func note(_ changes: [SessionChange])

    /// Tells all clients that the server stops.
    func announceShutdown()

    /// Commits what waits, refuses what comes later, and ends the threads.
    func close() async
}
