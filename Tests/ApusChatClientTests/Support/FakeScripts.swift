import ApusChatProtocol
import ApusJSON

/// What a ``FakeServer`` answers to verbs without deciding them, and pushes around the answers.
struct FakeScripts {
    typealias Frames = (before: [(String, JSONValue)], after: [(String, JSONValue)])

    /// Errors that are each answered once.
    var failures: [String: [ChatError]] = [:]
    /// Answers in turn, of which the last remains.
    var answers: [String: [JSONValue]] = [:]
    /// What the connection that sends a verb receives before and after the answer.
    var frames: [String: Frames] = [:]
    /// Verbs without answers.
    var withheld: Set<String> = []

    mutating func next(_ verb: String) -> JSONValue? {
        if let error = self.failures[verb]?.first {
            self.failures[verb]?.removeFirst()
            return error.json
        }
        guard let values = self.answers[verb], let value = values.first else { return nil }
        if values.count > 1 { self.answers[verb] = Array(values.dropFirst()) }
        return value
    }

    /// Returns the pushes around an answer; nil for a verb that is not answered.
    func frames(around verb: String) -> Frames? { self.withheld.contains(verb) ? nil : self.frames[verb] ?? ([], []) }
}
