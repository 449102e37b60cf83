import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusSocketIOServer
import NIOCore

/// A command on its way to the writer.
struct Submission: Sendable {
    let command: Command
    let eventLoop: (any EventLoop)?
    let completion: Answers.Completion
}

/// The answers of a batch, which reach each event loop in one hop, so that a connection gets those
/// of its requests in one write.
struct Answers {
    typealias Completion = @Sendable (Result<StoredAnswer, ChatError>) -> Void

    /// What waits for an answer.
    struct Recipient {
        /// The event loop that the completion is called on; nil for the calling thread.
        let eventLoop: (any EventLoop)?
        let completion: Completion
    }

    private struct Group {
        let eventLoop: any EventLoop
        var answers: [(Completion, Result<StoredAnswer, ChatError>)] = []
    }

    /// There are as many groups as event loops, which are few.
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

    /// Gives the answers that were added, and forgets them.
    mutating func give() {
        var deliveries = self.take()
        deliveries.send()
    }

    /// Gives the answers that no event loop was named for, and returns the others as deliveries to
    /// which the events of the batch can be added.
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
