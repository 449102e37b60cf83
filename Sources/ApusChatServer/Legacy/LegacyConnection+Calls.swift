import ApusChatProtocol
import ApusChatService
import ApusJSON
import Logging
import NIOConcurrencyHelpers

// Calls between two users. A room of the apps is a call in the log. The data that the parties
// exchange is sent as signals of the chat, which checks that both take part in the call.
extension LegacyConnection {
    private var device: DeviceID { self.chat.device }

    /// Starts a call to a user. Returns the name of the room.
    func call(_ argument: JSONValue, by user: UserName) async throws -> String {
        let claimed = argument["from_user"]?.stringValue ?? ""
        guard claimed.isEmpty || UserName(claimed) == user else {
            throw LegacyRefusal("`from_user` must be the account of the connection.")
        }
        guard let recipient = argument["to_user"]?.stringValue.flatMap({ UserName($0) }), recipient != user else {
            throw LegacyRefusal("`to_user` must be the account name of another user.")
        }
        let conversation = try await self.pair(with: recipient)
        let answer = try await self.chat.ask(
            ChatVerbs.callStart, CallStartRequest(id: LegacyServer.requestID(), conversation: conversation, media: .video))
        let room = LegacyRoom(conversation, answer.call)
        self.calls.ringing = room
        return room.name
    }

    /// Joins a call. Accepts the call if it is ringing for the user.
    func joinCall(_ argument: JSONValue, _ user: UserName) async throws {
        let room = try Self.room(argument)
        // The log is read with the permissions of the user, so a user who is not a member receives
        // an error.
        let page = try await self.chat.ask(
            ChatVerbs.history, HistoryRequest(conversation: room.conversation, range: .from(room.call), limit: 1))
        guard let event = page.events.first, event.seq == room.call, case .call(let call)? = ChatBody(event),
            call.state == .ringing || call.state == .accepted, case .pair(let peer)? = self.kind(of: room.conversation)
        else { throw LegacyRefusal("The call does not exist, has ended, or is not a call of two users.") }
        if let joined = self.calls.joined, joined != room { await self.leaveCall() }
        if call.state == .ringing, event.sender != user { try await self.accept(room) }
        let device = self.device
        guard let others = self.server.rooms.withLockedValue({ $0.join(room, device, of: user) }) else {
            throw LegacyRefusal("The call is full.")
        }
        self.calls = LegacyCalls(joined: room, peers: Set(others.keys), peer: peer, ringing: nil)
        self.emit(LegacySignal.peers(others.keys.sorted(), you: device))
        try await self.tell(.join, in: room, peer)
    }

    /// Accepts a call that rings.
    private func accept(_ room: LegacyRoom) async throws {
        // The event of the answer can arrive before the answer of this request, and must then not
        // end the ring in this app.
        let ringing = self.calls.ringing
        if ringing == room { self.calls.ringing = nil }
        do {
            _ = try await self.chat.ask(
                ChatVerbs.callUpdate,
                CallUpdateRequest(id: LegacyServer.requestID(), conversation: room.conversation, call: room.call, state: .accepted))
        } catch {
            if self.calls.ringing == nil { self.calls.ringing = ringing }
            throw error
        }
    }

    /// Sends an offer, an answer or a candidate to a device of the call.
    func signal(_ event: LegacyEvent, _ argument: JSONValue) async throws {
        let signal = try LegacySignal(event: event.rawValue, argument)
        guard let room = self.calls.joined, let target = argument["socketId"]?.stringValue.flatMap({ DeviceID($0) }),
            let user = self.server.rooms.withLockedValue({ $0.user(of: target, in: room) })
        else { throw LegacyRefusal("`socketId` must be a device of the call that this connection has joined.") }
        try await self.tell(signal, in: room, user, target)
    }

    /// Leaves the current call, which ends it for both parties.
    func leaveCall() async {
        guard let room = self.calls.joined, let peer = self.calls.peer else {
            guard let room = self.calls.ringing else { return }
            self.calls.ringing = nil
            return await self.end(room, .ended)
        }
        self.calls = LegacyCalls()
        let device = self.device
        self.server.rooms.withLockedValue { $0.leave(room, device) }
        // The other party also receives the event that ends the call.
        try? await self.tell(.leave, in: room, peer)
        await self.end(room, .ended)
        self.server.rooms.withLockedValue { $0.close(room) }
    }

    /// Declines or ends a call.
    func cancelCall(_ argument: JSONValue) async throws {
        let room = try Self.room(argument)
        if self.calls.joined == room { return await self.leaveCall() }
        if self.calls.ringing == room { self.calls.ringing = nil }
        await self.end(room, .declined)
    }

    private static func room(_ argument: JSONValue) throws(LegacyRefusal) -> LegacyRoom {
        guard let room = argument["room"]?.stringValue.flatMap({ LegacyRoom($0) }) else {
            throw LegacyRefusal("`room` must be the name of a call.")
        }
        return room
    }

    private func end(_ room: LegacyRoom, _ state: CallState) async {
        do {
            _ = try await self.chat.ask(
                ChatVerbs.callUpdate,
                CallUpdateRequest(id: LegacyServer.requestID(), conversation: room.conversation, call: room.call, state: state))
        } catch {
            self.logger.debug("A call could not be ended", metadata: ["error": "\(error)"])
        }
    }

    private func tell(_ signal: LegacySignal, in room: LegacyRoom, _ user: UserName, _ device: DeviceID? = nil) async throws {
        _ = try await self.chat.ask(
            ChatVerbs.signal,
            SignalRequest(conversation: room.conversation, call: room.call, recipient: user, device: device, data: signal.data))
    }

    // MARK: Events of other devices

    /// Handles the call events among new events of the log.
    func called(_ events: [ChatEvent]) async {
        guard let user = try? await self.opened().user else { return }
        for event in events {
            switch event.kind.code {
            case .call:
                guard case .call(let call)? = ChatBody(event), call.state == .ringing, let sender = event.sender, sender != user,
                    case .pair? = self.kind(of: event.conversation)
                else { continue }
                let room = LegacyRoom(event.conversation, event.seq)
                self.calls.ringing = room
                self.emit(LegacyFrame("videoChat", ["from_user": .string(sender.rawValue), "room": .string(room.name)]))
            case .callUpdate:
                guard let call = event.ref, let state = event.body["state"]?.stringValue.flatMap({ CallState(rawValue: $0) }) else {
                    continue
                }
                self.changed(LegacyRoom(event.conversation, call), state, byOwnUser: event.sender == user)
            default: break
            }
        }
    }

    private func changed(_ room: LegacyRoom, _ state: CallState, byOwnUser isOwn: Bool) {
        switch state {
        case .accepted:
            // The call was answered on another device of the user.
            guard isOwn, self.calls.ringing == room else { return }
            self.calls.ringing = nil
            self.emit(LegacyFrame("cancelVideoChat", [:]))
        case .ended, .missed, .declined, .busy:
            self.server.rooms.withLockedValue { $0.close(room) }
            guard self.calls.ringing == room || self.calls.joined == room else { return }
            self.calls = LegacyCalls()
            self.emit(LegacyFrame("cancelVideoChat", [:]))
        case .ringing, .unknown: break
        }
    }

    /// Handles a signal that a device of the current call sent.
    func signalled(_ push: SignalPush) {
        let room = LegacyRoom(push.conversation, push.call)
        guard self.calls.joined == room, let signal = LegacySignal(push.data) else { return }
        if signal == .leave {
            self.server.rooms.withLockedValue { $0.leave(room, push.device) }
            guard self.calls.peers.remove(push.device) != nil else { return }
            return self.emit(signal.frame(from: push.device))
        }
        // The app opens one connection for each announced peer, and fails on signals of other
        // peers.
        if self.calls.peers.insert(push.device).inserted {
            _ = self.server.rooms.withLockedValue { $0.join(room, push.device, of: push.sender) }
            // A device that answers the join of the app was in the call before and waits for an
            // offer of the app. The app reconnects to all devices in `_peers`, so only the first
            // answer causes that event.
            let wasThere = signal == .join && push.data["reply"] == .bool(true) && self.calls.peers.count == 1
            self.emit(wasThere ? LegacySignal.peers([push.device], you: self.device) : LegacySignal.join.frame(from: push.device))
        }
        if signal != .join { self.emit(signal.frame(from: push.device)) }
    }
}
