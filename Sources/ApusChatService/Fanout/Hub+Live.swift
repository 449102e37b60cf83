import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// What is told and not stored.
extension Hub {
    /// Tells the other members that a user is writing.
    func type(_ request: TypingRequest, by requester: Requester) throws {
        let key = request.conversation.key
        let peers = self.router.peers(of: requester.user, in: key)
        guard !peers.isEmpty, let account = try self.reads.accounts([requester.user]).first, account.privacy.typing,
            let row = try self.reads.head(of: requester.user, in: key), row.member.state == .joined
        else { return }
        if let pair = row.conversation.pair {
            let other = pair.low == requester.user ? pair.high : pair.low
            guard try self.reads.head(of: other, in: key)?.member.blocksPeer != true else { return }
        }
        let push = TypingPush(conversation: request.conversation, user: account.name, isStopped: request.isStopped)
        if let frame = Frame(ChatPushes.typing, push) { self.push(frame, to: peers) }
    }

    /// Passes the data of a call to another party.
    ///
    /// - Throws: `not_found` unless the call takes place and both are members.
    func signal(_ request: SignalRequest, by requester: Requester) throws {
        let key = request.conversation.key
        guard let row = try self.reads.head(of: requester.user, in: key), row.member.state == .joined,
            row.conversation.counters.callSeq == request.call,
            let recipient = try self.names.keys(of: [request.recipient], self.reads)[0],
            let other = try self.reads.head(of: recipient, in: key), other.member.state == .joined, !other.member.blocksPeer,
            let sender = try self.names.names(of: [requester.user], self.reads)[requester.user]
        else { throw ChatError(.notFound, message: "There is no such call.") }
        let push = SignalPush(
            conversation: request.conversation, call: request.call, sender: sender, device: DeviceID(number: requester.device.rawValue),
            data: request.data)
        let sockets = self.router.sockets(of: recipient).filter { socket in
            guard let device = request.device else { return true }
            return self.requester(of: socket)?.device.rawValue == device.number
        }
        if let frame = Frame(ChatPushes.signal, push) { self.push(frame, to: sockets) }
    }
}
