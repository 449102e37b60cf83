import ApusBytes
import ApusCommandSupport
import ApusWebSocket
import ApusWebSocketProtocol
import ArgumentParser
import Foundation
import HTTPTypes

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
                hasCommands: self.commands, stays: self.stay, closeDelay: .milliseconds(Int64(self.closeDelay * 1000)),
                timeout: self.timeoutDuration),
            output: output)
        return await prompt.run()
    }

    private func connect(to url: String) async throws -> WebSocketConnection {
        var configuration = WebSocketClientConfiguration()
        configuration.headers = try self.headers()
        configuration.subprotocols = self.subprotocol
        configuration.compression = self.compress ? .init() : nil
        configuration.tls = try self.tlsOptions.settings()
        configuration.proxy = try self.proxySettings()
        configuration.unixSocketPath = self.unix
        configuration.limits = WebSocketLimits(maximumMessageBytes: self.maxMessage)
        configuration.connectTimeout = self.timeoutDuration
        configuration.tlsTimeout = self.timeoutDuration
        configuration.handshakeTimeout = self.timeoutDuration
        return try await WebSocketClient.connect(to: url, configuration: configuration)
    }

    private static func advice(for error: WebSocketError, url: String) -> String {
        guard let refusal = error.refusal else {
            return "no connection to \(url): \(TLSOptions.advice(for: error) ?? ErrorText.line(error))"
        }
        return "the server refused the connection with \(self.summary(of: refusal))"
    }

    /// The maximum number of bytes of a response's body to print.
    private static let shownBytes = 200

    /// Returns the status and the content type of a response, and the first line of the body. The
    /// body may be an HTML page.
    static func summary(of refusal: WebSocketError.Refusal) -> String {
        let type = refusal.headers[.contentType].map { " (\(PeerText.visible($0.prefix(100))))" } ?? ""
        let lines = refusal.body.split { $0 == 0x0a || $0 == 0x0d }
        guard let line = lines.first(where: { $0.contains { $0 > 0x20 } }) else { return "status \(refusal.status)\(type)" }
        var text = String(decoding: line.prefix(self.shownBytes), as: UTF8.self)
        // Remove an incomplete last character.
        if line.count > self.shownBytes, text.last == "\u{fffd}" { text.removeLast() }
        return "status \(refusal.status)\(type): \(PeerText.visible(text))\(line.count > self.shownBytes ? " …" : "")"
    }
}
