import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension ReadContext {
    /// Returns the changed heads as pushes within the size limit.
    func headPushes(_ keys: [ConversationKey]) throws -> [HeadPush] {
        var heads: [ChatHead] = []
        var gone: [ConversationID] = []
        for key in keys {
            if let row = try self.reads.head(of: self.viewer, in: key), !row.member.isGone {
                heads.append(try self.head(row))
            } else {
                gone.append(ConversationID(key))
            }
        }
        var pushes: [HeadPush] = gone.isEmpty ? [] : [HeadPush(gone: gone)]
        var rest = heads[...]
        while !rest.isEmpty {
            let count = min(AnswerSize.fitting(rest), ChatLimits.headsPage)
            pushes.append(HeadPush(heads: Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return pushes
    }

    /// Returns the read and received positions of other members.
    func marks(_ reads: [CoalescedHeads.Read]) throws -> [ReadMark] {
        let names = try self.names.names(of: Set(reads.map(\.user)), self.reads)
        return reads.compactMap { read in
            names[read.user].map {
                ReadMark(
                    conversation: ConversationID(read.conversation), user: $0, read: read.n > 0 ? read.n : nil,
                    received: read.received > 0 ? read.received : nil)
            }
        }
    }
}
