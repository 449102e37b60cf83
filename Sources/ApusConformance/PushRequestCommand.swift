import ApusJSON
import ApusWebPush
import ArgumentParser
import Crypto
import Foundation

/// Makes Web Push requests for messages without sending them. Each line of the input is the JSON of
/// a subscription with the field `message`. Each line of the output is a JSON object with `body`,
/// in base64url, and `authorization`.
struct PushRequestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "push", abstract: "Make Web Push requests for subscriptions.")

    @Option(help: "The contact of the operator, in the token.") var contact = "mailto:push@example.com"

    func run() throws {
        let vapid = VAPID(key: P256.Signing.PrivateKey(), contact: self.contact)
        while let line = readLine() {
            guard let json = try JSONReader.read(line).objectValue, let message = json["message"]?.stringValue else {
                throw ValidationError("each line of the input must be the JSON of a subscription with a string `message`")
            }
            let subscription = try PushSubscription(json: json)
            let body = try PushEncryption.encrypt(
                Array(message.utf8), for: subscription, key: P256.KeyAgreement.PrivateKey(),
                salt: (0..<16).map { _ in UInt8.random(in: 0...255) })
            let authorization = try vapid.authorization(for: subscription.endpoint, at: Int64(Date().timeIntervalSince1970))
            let answer: JSONObject = ["body": .string(Base64URL.encode(body)), "authorization": .string(authorization)]
            print(String(decoding: try JSONWriter.bytes(of: .object(answer)), as: UTF8.self))
        }
    }
}
