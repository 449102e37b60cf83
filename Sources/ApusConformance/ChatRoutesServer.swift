import ApusChatHTTP
import ApusChatProtocol
import ApusChatSQLite
import ApusChatStorage
import ApusCommandSupport
import ApusJSON
import ApusPasswords
import ApusSocketIOServer
import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOCore

/// Serves the HTTP interface of the chat without its messages, for the tests of
/// `docs/openapi.json`.
struct ChatRoutesServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat-routes", abstract: "Serve the HTTP routes of the accounts and files of the chat, without Socket.IO.")

    @Option(help: "The port; 0 selects a free one.") var port = 0
    @Option(help: "The data folder.") var folder: String
    @Flag(help: "Disable the rate limits of sign-ins and registrations.") var withoutLimits = false
    @Option(help: "The minimum rate of an upload, in bytes a second.") var minimumRate = 1_024

    func run() async throws {
        let lock = try ChatFolder(self.folder)
        let database = try DatabaseThread { try SQLiteStorage(lock) }
        var configuration = AccountsConfiguration()
        configuration.hasLimits = !self.withoutLimits
        configuration.passwordCost = .init(logRounds: 4)
        let start = ContinuousClock.now
        let clock = AccountsClock(
            now: { Int64(Date().timeIntervalSince1970 * 1_000) },
            elapsed: { Int64((ContinuousClock.now - start) / .milliseconds(1)) })
        let accounts = try Accounts(database: database, folder: self.folder, configuration: configuration, clock: clock)
        let files = try BlobFiles(folder: self.folder, tools: .found(logger: Logger(label: "chat-routes")))
        var limits = UploadsConfiguration()
        limits.minimumRate = self.minimumRate
        let uploads = try Uploads(folder: self.folder, accounts: accounts, files: files, configuration: limits)
        let routes = ChatRoutes(
            accounts: accounts, chat: NoMessages(), files: files, uploads: uploads,
            server: ServerAnswer(name: "Apus", version: "1", registration: .open, limits: HelloLimits()))
        let application = Application(
            router: routes.router(), configuration: .init(address: .hostname("127.0.0.1", port: self.port), serverName: nil),
            onServerRunning: { channel in
                print("listening on 127.0.0.1:\(channel.localAddress?.port ?? 0)")
                flushStandardOutput()
            }, logger: Logger(label: "chat-routes"))
        let maintenance = Task { await HTTPMaintenance(accounts: accounts, uploads: uploads, logger: application.logger).run() }
        defer { maintenance.cancel() }
        try await application.runService()
        await files.endWork()
        files.close()
        accounts.close()
    }
}

/// Answers each verb with the error `unsupported`.
private struct NoMessages: ChatRequests {
    func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
        -> JSONValue
    {
        throw ChatError(.unsupported, message: "The server does not support the verb \(verb).")
    }

    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
        throw ChatError(.unsupported, message: "The server does not support the verb \(verb).")
    }

    func writeFailure() async -> String? { nil }
}
