import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Logging

// Notifications that are not stored.
extension Hub {
    /// Notifies the other members that a user is writing.
    func type(_ request: TypingRequest, by requester: Requester) throws {
        let key = request.conversation.key
        let peers = self.router.peers(of: requester.user, in: key)
        guard !peers.isEmpty, let name = try self.shown.typist(requester.user, in: key, self.reads) else { return }
        let push = TypingPush(conversation: request.conversation, user: name, isStopped: request.isStopped)
        if let frame = Frame(ChatPushes.typing, push) { self.push(frame, to: peers) }
    }

    /// Records the last message that a device has received, and notifies the other members.
    func received(_ n: Int64, in key: ConversationKey, by requester: Requester) {
        let user = requester.user
        do {
            // For a device without a connection, such as one that was woken by a notification, the
            // membership is read from the storage.
            let isMember = try self.router.isMember(user, of: key) ?? (self.reads.head(of: user, in: key)?.member.state == .joined)
            guard n > 0, isMember, self.book.received(n, by: MemberAddress(key, user), on: requester.device) else { return }
            let sockets = self.router.receiptSockets(key, except: user)
            guard !sockets.isEmpty, try self.shown.showsReceipts(user, in: key, self.reads) else { return }
            self.tell(CoalescedHeads.Read(conversation: key, user: user, received: n), to: sockets)
        } catch {
            self.logger.error("A received position could not be pushed", metadata: ["error": "\(error)"])
        }
    }

    /// Sends data of a call to another party.
    ///
    /// - Throws: `not_found` unless the call is running and both users are members.
    func signal(_ request: SignalRequest, by requester: Requester) throws {
        let key = request.conversation.key
        guard let row = try self.reads.head(of: requester.user, in: key), row.member.state == .joined,
            row.conversation.counters.callSeq == request.call,
            let recipient = try self.names.keys(of: [request.recipient], self.reads)[0],
            let other = try self.reads.head(of: recipient, in: key), other.member.state == .joined, !other.member.blocksPeer,
            let sender = try self.names.names(of: [requester.user], self.reads)[requester.user]
        else { throw ChatError(.notFound, message: "There is no such call.") }
        self.calls.signalled(EventAddress(key, request.call), by: requester.device)
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
