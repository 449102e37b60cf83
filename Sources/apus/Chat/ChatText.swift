import ApusChatClient
import ApusChatProtocol
import Foundation

/// Formats messages for display.
enum ChatText {
    static func content(of message: ChatMessage) -> String {
        switch message.content {
        case .text(let body): return ChatOutput.harmless(body.text)
        case .image(let body):
            let size = "[picture \(body.width)×\(body.height), \(max(1, body.size / 1_024)) KiB]"
            return body.text.map { size + " " + ChatOutput.harmless($0) } ?? size
        case nil:
            if message.kind == .image { return "[picture, not uploaded yet] " + ChatOutput.harmless(message.text ?? "") }
            if message.kind == .memberJoin { return "(joined)" }
            if message.kind == .conversationSet { return "(created or renamed the conversation)" }
            return "(\(ChatOutput.harmless(message.kind.rawValue)))"
        }
    }

    /// Returns the content as one line of at most 60 characters.
    static func summary(of message: ChatMessage) -> String {
        let line = self.content(of: message).split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
        return line.count > 60 ? line.prefix(59) + "…" : line
    }

    static func mark(for delivery: DeliveryState?) -> String {
        switch delivery {
        case .queued: "… waiting"
        case .refused: "✗ not sent"
        case .sent: "✓"
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
}
