import ApusCommandSupport
import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ArgumentParser
import Foundation

/// Runs the Apus client as a column of the interop matrix (`Conformance/support/matrix.py`).
/// Performs every check over one transport, and prints a line of JSON for each.
///
/// For the restart check, the command prints that it is ready, and waits until the server has been
/// restarted.
struct ConformanceClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Run the client of the interop matrix.")

    @Argument(help: "The URL of the server.") var url: String

    @Argument(help: "polling, websocket or upgrade.") var transport: InteropTransport

    @Option(help: "The Engine.IO version: 3 or 4. Default: detected.") var eio: Int?

    @Flag(name: .customLong("python4"), help: "Omit the cases that python-socketio 4.6 fails, such as unknown namespaces.")
    var isPython4 = false

    @Flag(help: "Encode packets as MessagePack.") var msgpack = false

    @Option(help: "Run only these checks.") var only: [String] = []

    func run() async throws {
        let scenario = InteropScenario(
            url: self.url, transport: self.transport, version: self.eio, isPython4: self.isPython4,
            parser: self.msgpack ? .messagePack : .json)
        let checks: [(String, @Sendable () async throws -> Void)] = [
            ("text", scenario.textIsEchoed), ("binary", scenario.binaryIsEchoed), ("acks", scenario.acksGoBothWays),
            ("namespaces", scenario.namespacesShareAConnection), ("refusal", scenario.aRefusalCarriesItsData),
            ("rooms", scenario.roomsAreReached), ("megabyte", scenario.aMegabyteIsEchoed),
            ("server-disconnect", scenario.theServerDisconnects), ("restart", scenario.theServerIsRestarted),
        ]
        for (name, check) in checks where self.only.isEmpty || self.only.contains(name) {
            Self.report(name, await Self.failure(of: check))
        }
    }

    /// Runs a check for at most 60 s. Returns a description of its failure; `nil` if it succeeds.
    private static func failure(of check: @escaping @Sendable () async throws -> Void) async -> String? {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await check() }
                group.addTask {
                    try await Task.sleep(for: .seconds(60))
                    throw InteropMismatch(description: "the check was not complete within 60 s")
                }
                try await group.next()
                group.cancelAll()
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func report(_ check: String, _ failure: String?) {
        self.say(["check": .string(check), "failure": failure.map { .string($0) } ?? .null])
    }

    /// Prints a value as a line of JSON.
    static func say(_ line: SocketIOValue) {
        guard let text = try? JSONWriter.bytes(of: line) else { return }
        writeStandardOutput(Data(text + [0x0a]))
    }
}

/// A transport, as the matrix names it.
enum InteropTransport: String, ExpressibleByArgument, CaseIterable {
    case polling, webSocket = "websocket", upgrade

    var transports: [EngineIOTransport] {
        switch self {
        case .polling: [.polling]
        case .webSocket: [.webSocket]
        case .upgrade: [.polling, .webSocket]
        }
    }

    /// The name of the transport that the session uses after an upgrade.
    var finalName: String {
        switch self {
        case .polling: EngineIOTransport.polling.rawValue
        case .webSocket, .upgrade: EngineIOTransport.webSocket.rawValue
        }
    }
}

/// A difference between the received and the expected value.
struct InteropMismatch: Error, CustomStringConvertible {
    var description: String

    static func check(_ isRight: Bool, _ what: @autoclosure () -> String) throws(InteropMismatch) {
        // Limits the length, because the text may contain a payload of a megabyte.
        if !isRight { throw InteropMismatch(description: String(what().prefix(600))) }
    }

    static func check<Value: Equatable>(_ got: Value, is wanted: Value, _ what: String) throws(InteropMismatch) {
        try self.check(got == wanted, "\(what): \(String("\(got)".prefix(250))) instead of \(String("\(wanted)".prefix(250)))")
    }
}
