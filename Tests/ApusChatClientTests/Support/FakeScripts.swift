import ApusChatProtocol
import ApusJSON

/// The scripted answers of a ``FakeServer``, and the pushes that it sends around answers.
struct FakeScripts {
    typealias Frames = (before: [(String, JSONValue)], after: [(String, JSONValue)])

    /// Errors by verb, each of which is answered once, before `answers`.
    var failures: [String: [ChatError]] = [:]
    /// Answers by verb, in order. The last one is repeated.
    var answers: [String: [JSONValue]] = [:]
    /// The pushes before and after the answer to a verb.
    var frames: [String: Frames] = [:]
    /// The number of next answers by verb that are lost together with their connection.
    var losses: [String: Int] = [:]
    /// The verbs that are never answered.
    var withheld: Set<String> = []

    /// Returns the next answer to a verb; nil if the server decides it.
    mutating func next(_ verb: String) -> JSONValue? {
        if let error = self.failures[verb]?.first {
            self.failures[verb]?.removeFirst()
            return error.json
        }
        guard let values = self.answers[verb], let value = values.first else { return nil }
        if values.count > 1 { self.answers[verb] = Array(values.dropFirst()) }
        return value
    }

    /// Counts the loss of the next answer to a verb.
    ///
    /// - Returns: Whether the answer is lost.
    mutating func loses(_ verb: String) -> Bool {
        guard let count = self.losses[verb], count > 0 else { return false }
        self.losses[verb] = count - 1
        return true
    }

    /// Returns the pushes around an answer; nil for a verb that is not answered.
    func frames(around verb: String) -> Frames? { self.withheld.contains(verb) ? nil : self.frames[verb] ?? ([], []) }
}
