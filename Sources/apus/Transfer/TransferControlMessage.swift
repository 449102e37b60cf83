import ApusJSON

/// The messages that `apus send` and `apus receive` exchange in addition to the files, as message
/// headers.
enum TransferControlMessage: Equatable {
    /// The sender's first message: the number and size of the files, and the secret of the code, if
    /// any.
    case send(files: Int, bytes: Int, secret: String?)
    /// The receiver's answer: the reason for a refusal, or `nil` to accept the sender.
    case answer(refusal: String?)
    /// The sender's last message: all files have been sent or reported as failed.
    case end

    init?(_ header: JSONObject) {
        switch header["apus"]?.stringValue {
        case "send":
            self = .send(
                files: max(0, header["files"]?.intValue ?? 0), bytes: max(0, header["bytes"]?.intValue ?? 0),
                secret: header["secret"]?.stringValue)
        case "answer":
            let isAccepted = header["accepted"]?.boolValue ?? false
            self = .answer(refusal: isAccepted ? nil : header["message"]?.stringValue ?? "no reason given")
        case "end": self = .end
        default: return nil
        }
    }

    var header: JSONObject {
        switch self {
        case .send(let files, let bytes, let secret):
            var header: JSONObject = ["apus": "send", "files": JSONValue(files), "bytes": JSONValue(bytes)]
            header["secret"] = secret.map(JSONValue.string)
            return header
        case .answer(nil): return ["apus": "answer", "accepted": true]
        case .answer(let refusal?): return ["apus": "answer", "accepted": false, "message": .string(refusal)]
        case .end: return ["apus": "end"]
        }
    }
}
