import ApusChatCore
import ApusChatStorage

/// The planted bug that compares a retry with the stored body, as a server does that hashes what it
/// finds in the log.
enum RetryByStoredBody {
    static func apply(to commands: inout [Command], _ facts: inout Facts, _ storage: MemoryStorage) {
        for index in commands.indices {
            guard case .send(let send) = commands[index].action, case .success(let content) = send.content,
                let request = commands[index].request
            else { continue }
            commands[index].request?.hash = self.hash(content.body)
            let address = SendAddress(send.conversation, commands[index].actor, request.id)
            guard let sent = facts.sends[address],
                let row = storage.events(in: send.conversation, .from(sent.seq), as: address.sender, limit: 1).first?.row
            else { continue }
            facts.sends.modify(address) { $0.hash = self.hash(row.body) }
        }
    }

    private static func hash(_ text: String) -> RequestHash {
        RequestHash(text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }, 0, 0, 0)
    }
}
