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
            // For a device without a connection, such as a device that reports after a
            // notification, the membership is read from the storage.
            let isMember = try self.router.isMember(user, of: key) ?? (self.reads.head(of: user, in: key)?.member.state == .joined)
            guard n > 0, isMember, self.book.received(n, by: MemberAddress(key, user), on: requester.device) else { return }
            let sockets = self.router.receiptSockets(key, except: user)
            guard !sockets.isEmpty, try self.shown.showsReceipts(user, in: key, self.reads) else { return }
            self.tell(CoalescedHeads.Read(conversation: key, user: user, received: n), to: sockets)
        } catch {
            self.logger.error("A received position could not be pushed", metadata: ["error": "\(error)"])
        }
    }

    /// Sends data of a call to another user, or to the devices of other members in the call.
    ///
    /// - Throws: `not_found` if the call is not running or a user is not a member.
    func signal(_ request: SignalRequest, by requester: Requester) throws {
        let key = request.conversation.key
        guard let row = try self.reads.head(of: requester.user, in: key), row.member.state == .joined,
            row.conversation.counters.callSeq == request.call,
            let sender = try self.names.names(of: [requester.user], self.reads)[requester.user]
        else { throw ChatError(.notFound, message: "The call is not running, or a user is not a member of its conversation.") }
        let call = EventAddress(key, request.call)
        let sockets = try self.sockets(of: request, in: key, by: requester)
        self.calls.signalled(call, by: requester)
        let push = SignalPush(
            conversation: request.conversation, call: request.call, sender: sender, device: DeviceID(number: requester.device.rawValue),
            data: request.data)
        if let frame = Frame(ChatPushes.signal, push) { self.push(frame, to: sockets) }
    }

    /// Returns the connections that receive a signal. Without a recipient, returns the connections
    /// of other members' devices that take part in the call. One request therefore announces a
    /// device, regardless of the number of members.
    private func sockets(of request: SignalRequest, in key: ConversationKey, by requester: Requester) throws -> [SocketKey] {
        guard let name = request.recipient else {
            let devices = self.calls.devices(of: EventAddress(key, request.call))
            return self.router.peers(of: requester.user, in: key).filter { socket in
                self.requester(of: socket).map { devices.contains($0.device) } ?? false
            }
        }
        guard let recipient = try self.names.keys(of: [name], self.reads)[0],
            let other = try self.reads.head(of: recipient, in: key), other.member.state == .joined, !other.member.blocksPeer
        else { throw ChatError(.notFound, message: "The call is not running, or a user is not a member of its conversation.") }
        return self.router.sockets(of: recipient).filter { socket in
            guard let device = request.device else { return true }
            return self.requester(of: socket)?.device.rawValue == device.number
        }
    }
}
