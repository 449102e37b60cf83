import ApusChatProtocol
import ApusJSON

/// Reads answers of the server.
enum ChatAnswer {
    /// Returns the answer, or throws the refusal that it contains.
    static func read<Answer: WireObject>(_ json: JSONValue, as type: Answer.Type, verb: String) throws(ChatClientError) -> Answer {
        if json["error"] != nil, let error = try? ChatError(json: json) { throw ChatClientError(server: error) }
        do { return try Answer(json: json) } catch {
            throw ChatClientError(
                .badAnswer, message: "the answer to `\(verb)` cannot be read (\(error.message)); the server may have another version")
        }
    }
}
