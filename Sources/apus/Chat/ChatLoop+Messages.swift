import ApusChatClient
import ApusChatProtocol
import Foundation

/// Writes, answers and changes messages of the open conversation.
extension ChatLoop {
    func performAboutMessages(_ line: ChatLine) async throws {
        let chat = try self.opened()
        switch line {
        case .text(let text): self.sent(try await chat.send(text, entities: await self.mentions(in: text)))
        case .reply(let seq, let text):
            let target = try self.target(seq) { !$0.isOwn }
            self.sent(try await chat.send(text, entities: await self.mentions(in: text), replyTo: target))
        case .edit(let seq, let text):
            try await chat.edit(try self.target(seq) { $0.isOwn && $0.event.kind.rawValue == "text" }, text: text)
        case .recall(let seq): try await chat.recall(try self.target(seq, where: \.isOwn))
        case .react(let seq, let key, let isOn): try await chat.react(try self.target(seq) { isOn ? !$0.isOwn : true }, key, isOn: isOn)
        case .pin(let seq, let isOn): try await chat.pin(try self.target(seq) { _ in true }, isOn: isOn)
        case .history: try await self.history()
        case .file(let path, let caption):
            let path = (path as NSString).expandingTildeInPath
            self.sent(try await chat.send(file: path, type: Self.mediaType(of: path), caption: caption))
        case .save(let seq, let path): try await self.save(seq, path)
        case .retry, .discard:
            for message in try await chat.unsent {
                guard case .failed = message.delivery, let id = message.event.id else { continue }
                if line == .retry { try await chat.retry(id) } else { try await chat.discard(id) }
            }
        default: break
        }
    }

    private func sent(_ message: ChatMessage) {
        if let id = message.event.id { self.typed.insert(id) }
    }

    /// The place of the message that a command concerns: the given one, or the last that fulfils a
    /// condition.
    private func target(_ seq: Int64?, where condition: (ChatMessage) -> Bool) throws(ChatClientError) -> Int64 {
        if let seq { return seq }
        guard let row = self.screen.newest(where: { $0.event.n != nil && !$0.event.state.isBlank && condition($0) }) else {
            throw ChatClientError(.badInput, message: "there is no such message on the screen; name it by its number, such as #17")
        }
        return row.event.seq
    }

    /// The mentions in a text. Without a connection, only known members are found.
    private func mentions(in text: String) async -> [TextEntity] {
        guard text.contains("@") else { return [] }
        if self.members.isEmpty, self.isOnline, let page = try? await self.current?.members() {
            self.members = page.members.map(\.user.name)
        }
        return ChatMentions.entities(in: text, members: self.members)
    }

    /// Writes a received file to the disk. It does not replace a file.
    private func save(_ seq: Int64?, _ path: String?) async throws {
        let place = try self.target(seq) { Self.blob(of: $0) != nil }
        guard let row = self.screen[place], let (blob, name) = Self.blob(of: row) else {
            throw ChatClientError(.notFound, message: "message #\(place) has no file")
        }
        // The name is chosen by the sender: its last component, without a leading period.
        let safe = ChatOutput.harmless(name.split(separator: "/").last.map(String.init) ?? "file").drop { $0 == "." }
        let target = URL(fileURLWithPath: path.map { ($0 as NSString).expandingTildeInPath } ?? (safe.isEmpty ? "file" : String(safe)))
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw ChatClientError(.badInput, message: "\(target.path) exists; name another file: /save #\(place) PATH")
        }
        let bytes = try await self.client.download(blob)
        do { try Data(bytes).write(to: target, options: .withoutOverwriting) } catch {
            throw ChatClientError(.badInput, message: "cannot write \(target.path): \(error.localizedDescription)")
        }
        self.output.line("Saved \(target.path), \(bytes.count) bytes.")
    }

    private static func blob(of row: ChatMessage) -> (BlobID, name: String)? {
        switch row.body {
        case .image(let body)?: (body.blob, body.name ?? "picture")
        case .file(let body)?: (body.blob, body.name)
        case .audio(let body)?: (body.blob, body.name ?? "recording")
        case .video(let body)?: (body.blob, body.name ?? "film")
        default: nil
        }
    }

    /// The media types of common files, by their extension.
    private static func mediaType(of path: String) -> String {
        let types = [
            "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
            "pdf": "application/pdf", "txt": "text/plain", "zip": "application/zip",
        ]
        return types[URL(fileURLWithPath: path).pathExtension.lowercased()] ?? "application/octet-stream"
    }
}
