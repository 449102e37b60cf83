import ApusChatClient
import ApusChatProtocol
import Foundation

/// Formats messages for display.
enum ChatText {
    /// Returns the content of a row, with its reactions.
    static func content(of message: ChatMessage) -> String {
        let event = message.event
        switch event.state {
        case .recalled: return "(recalled)"
        case .expired: return "(disappeared)"
        case .erased: return "(removed)"
        case .normal, .edited, .unknown: break
        }
        var text = message.body.map { self.content(of: $0, delivery: message.delivery) } ?? message.change.map { self.line(for: $0, event) }
        if text == nil { text = message.needsUpdate ? "(update to see this)" : "(\(ChatOutput.harmless(event.kind.rawValue)))" }
        if event.state == .edited { text?.append(" (edited)") }
        if let ref = event.ref, message.body != nil { text = "↩ #\(ref) " + (text ?? "") }
        for reaction in event.reactions { text?.append("  [\(ChatOutput.harmless(reaction.key)) \(reaction.count)]") }
        return text ?? ""
    }

    private static func content(of body: ChatBody, delivery: DeliveryState?) -> String {
        switch body {
        case .text(let body): ChatOutput.harmless(body.text)
        case .image(let body):
            delivery == .uploading
                ? self.media("picture, not uploaded yet", body.text)
                : self.media("picture \(body.width)×\(body.height), \(self.size(body.size))", body.text)
        case .audio(let body): self.media(body.isVoice ? "voice message" : "recording", body.text)
        case .video(let body): self.media("film \(body.width)×\(body.height), \(self.size(body.size))", body.text)
        case .file(let body): self.media("file \(ChatOutput.harmless(body.name)), \(self.size(body.size))", body.text)
        case .location(let body): "[place \(body.latitude), \(body.longitude)] " + ChatOutput.harmless(body.name ?? "")
        case .card(let body): "[user @\(body.user)]"
        case .call(let body): "[call, \(body.state.rawValue)]"
        case .poll(let body):
            "[poll] \(ChatOutput.harmless(body.question)): \(body.options.map(ChatOutput.harmless).joined(separator: " / "))"
        case .bundle(let body): "[\(body.items.count) messages] " + ChatOutput.harmless(body.title)
        case .encrypted: "[encrypted message]"
        case .custom(let body): "[\(ChatOutput.harmless(body.kind.rawValue))]"
        }
    }

    private static func media(_ words: String, _ caption: String?) -> String {
        "[\(words)]" + (caption.map { " " + ChatOutput.harmless($0) } ?? "")
    }

    private static func size(_ bytes: Int64) -> String { "\(max(1, bytes / 1_024)) KiB" }

    /// Returns the words for a change that is a row of its own.
    private static func line(for change: ChatChange, _ event: ChatEvent) -> String {
        switch change {
        case .conversationCreate(let body): return body.kind == .pair ? "(opened the conversation)" : "(created the \(body.kind.rawValue))"
        case .conversationSet(let body):
            return body.title.map { "(named the conversation \"\(ChatOutput.harmless($0))\")" } ?? "(changed the settings)"
        case .pin(let body): return "(\(body.isRemoval ? "unpinned" : "pinned")\(event.ref.map { " #\($0)" } ?? " a message"))"
        case .members(let body):
            let users = body.users.map { "@\($0)" }.joined(separator: ", ")
            let verb = event.kind.rawValue.split(separator: ".").last.map(String.init) ?? "changed"
            let words = ["join": "joined", "invite": "invited", "leave": "left", "remove": "removed", "ban": "banned", "unban": "unbanned"]
            let role = body.role.map { ", \($0.rawValue)" } ?? ""
            if verb == "join", !users.isEmpty { return "(added \(users))" }
            return "(\(words[verb] ?? verb)\(users.isEmpty ? "" : " " + users)\(role))"
        default: return "(\(event.kind.rawValue))"
        }
    }

    /// Returns the content as one line of at most 60 characters.
    static func summary(of message: ChatMessage) -> String { self.shortened(self.content(of: message)) }

    /// Returns the newest event of a conversation as one line of at most 60 characters.
    static func summary(of preview: EventPreview) -> String {
        guard !preview.state.isBlank else { return "(\(preview.state.rawValue))" }
        let text = preview.text.map(ChatOutput.harmless) ?? "(\(ChatOutput.harmless(preview.kind.rawValue)))"
        return self.shortened(preview.kind.rawValue == "text" || preview.text == nil ? text : "[\(preview.kind)] \(text)")
    }

    static func shortened(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
        return line.count > 60 ? line.prefix(59) + "…" : line
    }

    static func mark(for delivery: DeliveryState?) -> String {
        switch delivery {
        case .queued, .uploading, .sending: "… waiting"
        case .failed: "✗ not sent"
        case .sent: "✓"
        case .delivered: "✓✓"
        case .read: "✓✓ read"
        case nil: ""
        }
    }

    /// Returns the local time of day in hours and minutes.
    static func time(_ milliseconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.dateFormat = "HH:mm"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
    }

    /// Returns the title of a conversation: that of a group, or the shown name of the other user.
    static func title(of head: ChatHead) -> String {
        if let title = head.title { return ChatOutput.harmless(title) }
        if head.kind == .own { return "Notes" }
        return head.peer.map { ChatOutput.harmless($0.nick ?? $0.name.rawValue) } ?? "?"
    }
}
