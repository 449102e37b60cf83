import ApusCommandSupport
import ApusWebSocket
import ArgumentParser
import Foundation

extension WebSocketCommand {
    /// Connects, runs the prompt and returns the exit code.
    func runClient(_ url: String) async -> Int32 {
        let output = WebSocketOutput(isVerbose: self.verbose)
        let connection: WebSocketConnection
        do {
            connection = try await self.connect(to: url)
        } catch let error as WebSocketError {
            output.note(Self.advice(for: error, url: url))
            return error.code == .connectionRefused ? 77 : [.invalidURL, .invalidUse].contains(error.code) ? 64 : 69
        } catch {
            output.note("no connection to \(url): \(ErrorText.line(error))")
            return 69
        }
        let subprotocol = connection.subprotocol.map { ", subprotocol \($0)" } ?? ""
        output.note("connected to \(url)\(subprotocol)\(connection.isCompressed ? ", permessage-deflate" : "")")
        let prompt = WebSocketPrompt(
            connection: connection,
            options: .init(
                hasCommands: self.commands, stays: self.stay, linger: .milliseconds(Int64(self.linger * 1000)),
                timeout: self.timeoutDuration),
            output: output)
        return await prompt.run()
    }

    private func connect(to url: String) async throws -> WebSocketConnection {
        var configuration = WebSocketClientConfiguration()
        configuration.headers = try self.headers()
        configuration.subprotocols = self.subprotocol
        configuration.compression = self.compress ? .init() : nil
        configuration.tls = try self.tlsSettings()
        configuration.proxy = try self.proxySettings()
        configuration.unixSocketPath = self.unix
        configuration.limits = WebSocketLimits(maximumMessageBytes: self.maxMessage)
        configuration.connectTimeout = self.timeoutDuration
        configuration.tlsTimeout = self.timeoutDuration
        configuration.handshakeTimeout = self.timeoutDuration
        return try await WebSocketClient.connect(to: url, configuration: configuration)
    }

    private func tlsSettings() throws -> TLSSettings {
        if let fingerprint = try self.fingerprint() { return .pinned(fingerprint) }
        guard let file = self.ca else { return .system }
        guard let pem = try? String(contentsOfFile: file, encoding: .utf8) else { throw ValidationError("cannot read the file \(file)") }
        return .trusting(authoritiesPEM: pem)
    }

    private static func advice(for error: WebSocketError, url: String) -> String {
        guard let refusal = error.refusal else { return "no connection to \(url): \(ErrorText.line(error))" }
        let body = String(decoding: refusal.body, as: UTF8.self)
        return "the server refused with status \(refusal.status)\(body.isEmpty ? "" : ": \(body)")"
    }
}
