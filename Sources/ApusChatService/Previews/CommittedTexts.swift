import ApusChatCore
import ApusChatProtocol
package import ApusChatStorage
import NIOConcurrencyHelpers

/// A text message that was sent or edited.
package struct CommittedText: Sendable, Equatable {
    package var target: EventAddress
    package var sender: UserKey
    /// The body as JSON text.
    package var body: String
}

/// Reports the texts of batches that can contain links.
package final class CommittedTexts: Sendable {
    private let deliver = NIOLockedValueBox<(@Sendable ([CommittedText]) -> Void)?>(nil)

    /// Starts to report texts.
    ///
    /// - Parameter deliver: Called on the event loop of the log. It must not block.
    package func start(_ deliver: @escaping @Sendable ([CommittedText]) -> Void) { self.deliver.withLockedValue { $0 = deliver } }

    func committed(_ batch: DecidedBatch) {
        guard let deliver = self.deliver.withLockedValue({ $0 }) else { return }
        let texts = Self.texts(of: batch.changes)
        if !texts.isEmpty { deliver(texts) }
    }

    /// Returns new and edited texts. An edit replaces the body of a message, including its preview.
    static func texts(of changes: Changes) -> [CommittedText] {
        var texts: [CommittedText] = []
        for event in changes.events {
            var row: EventRow?
            if event.isMessage {
                row = event
            } else if event.kind == .edit {
                let address = EventAddress(event.conversation, event.ref)
                row = changes.targets.first { $0.address == address }
            }
            guard let row, row.kind == .text, row.sender != UserKey(0), !row.state.isBlank, Self.mayHaveLink(row.body) else { continue }
            texts.append(CommittedText(target: row.address, sender: row.sender, body: row.body))
        }
        return texts
    }

    private static func mayHaveLink(_ body: String) -> Bool { body.contains(":") && (body.contains("http") || body.contains("HTTP")) }
}
