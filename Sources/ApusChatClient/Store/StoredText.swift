import ApusChatProtocol
import ApusJSON

/// Encodes protocol objects as JSON text in the store.
enum StoredText {
    static func write(_ value: some WireObject) throws -> String { try value.json.jsonString() }

    static func read<Value: WireObject>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        do { return try Value(json: try JSONReader.read(text, limits: .init(loneSurrogates: .replace))) } catch {
            throw ChatClientError(.store, message: "a value of the local store cannot be read: \(error)")
        }
    }
}

extension ChatEvent {
    /// Whether the event is shown as a separate row of a conversation. Changes of messages are
    /// shown in the rows of the messages. Hidden events have neither a time nor a content.
    var isShown: Bool {
        switch self.kind.rawValue {
        case "edit", "preview", "recall", "react", "vote", "poll.close", "call.update", "hidden": false
        default:
            !self.kind.rawValue.hasPrefix("self.") && !self.kind.rawValue.hasPrefix("contact.") && !self.kind.rawValue.hasPrefix("device.")
        }
    }

    /// The text of the event in the search index.
    var searchText: String? { self.kind.isMessage ? ChatBody(self)?.searchText : nil }
}
