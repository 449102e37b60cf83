import ApusChatProtocol
import ApusJSON

/// Reads answers of the server.
enum ChatAnswer {
    /// Decodes an answer. Throws the error of the server if the answer contains one.
    static func read<Answer: WireObject>(_ json: JSONValue, as type: Answer.Type, verb: String) throws(ChatClientError) -> Answer {
        if json["error"] != nil, let error = try? ChatError(json: json) { throw ChatClientError(server: error) }
        do { return try Answer(json: json) } catch {
            throw ChatClientError(
                .badAnswer, message: "the answer to `\(verb)` is not valid: \(error.message); check the version of the server")
        }
    }
}
