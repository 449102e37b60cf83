import ApusJSON

/// What `apus send` and `apus receive` say to each other beside the files, as headers of messages.
enum TransferHello: Equatable {
    /// The sender's first word: what it is going to send, and the secret of the code, when it has one.
    case send(files: Int, bytes: Int, secret: String?)
    /// The receiver's answer; `nil`: go on, else why not.
    case answer(refusal: String?)
    /// The sender's last word: everything was sent, or was reported.
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
