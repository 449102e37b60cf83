import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusSocketIOServer
import NIOCore

/// A command that was submitted to the writer.
struct Submission: Sendable {
    let command: Command
    let eventLoop: (any EventLoop)?
    let completion: Answers.Completion
}

/// The answers of a batch. Each event loop receives its answers in one task, so that each
/// connection writes its answers at once.
struct Answers {
    typealias Completion = @Sendable (Result<StoredAnswer, ChatError>) -> Void

    /// The receiver of an answer.
    struct Recipient {
        /// The event loop on which the completion is called; nil for the current thread.
        let eventLoop: (any EventLoop)?
        let completion: Completion
    }

    private struct Group {
        let eventLoop: any EventLoop
        var answers: [(Completion, Result<StoredAnswer, ChatError>)] = []
    }

    /// The groups, one for each event loop. A linear search suffices, because there are few event
    /// loops.
    private var groups: [Group] = []
    private var others: [(Completion, Result<StoredAnswer, ChatError>)] = []

    mutating func add(_ result: Result<StoredAnswer, ChatError>, for recipient: Recipient) {
        guard let eventLoop = recipient.eventLoop else { return self.others.append((recipient.completion, result)) }
        let index =
            self.groups.firstIndex { $0.eventLoop === eventLoop }
            ?? {
                self.groups.append(Group(eventLoop: eventLoop))
                return self.groups.count - 1
            }()
        self.groups[index].answers.append((recipient.completion, result))
    }

    /// Delivers and removes the collected answers.
    mutating func give() {
        var deliveries = self.take()
        deliveries.send()
    }

    /// Delivers the answers without an event loop. Returns the other answers as deliveries, to
    /// which the pushes of the batch can be added.
    mutating func take() -> SocketIODeliveries {
        for (completion, result) in self.others { completion(result) }
        self.others.removeAll(keepingCapacity: true)
        var deliveries = SocketIODeliveries()
        for index in self.groups.indices where !self.groups[index].answers.isEmpty {
            let answers = self.groups[index].answers
            self.groups[index].answers = []
            deliveries.add(on: self.groups[index].eventLoop) {
                for (completion, result) in answers { completion(result) }
            }
        }
        return deliveries
    }
}
