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

    /// Returns the pushes around an answer; nil for a verb that is not answered.
    func frames(around verb: String) -> Frames? { self.withheld.contains(verb) ? nil : self.frames[verb] ?? ([], []) }
}
