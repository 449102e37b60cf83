import ApusChatCore
import ApusChatProtocol
import ApusJSON

extension CallController {
    func handle(_ input: CallFeed.Input) async {
        switch input {
        case .events(let conversation, let events): for event in events { await self.handle(event, in: conversation) }
        case .signal(let push):
            guard let current, current.conversation == push.conversation, current.seq == push.call else { return }
            current.received(push)
        case .connection(.online):
            self.isChatOnline = true
            // A separate task, because signals must be handled while the requests wait for answers.
            Task { await self.wentOnline() }
        case .connection(.signedOut), .connection(.closed):
            self.isChatOnline = false
            self.current?.leave(.ended)
        case .connection: self.isChatOnline = false
        case .heads(let conversations):
            guard !self.early.isEmpty else { return }
            for conversation in conversations {
                if let event = self.early.removeValue(forKey: conversation) { await self.rings(event) }
            }
        case .gone(let conversations):
            guard let current, !current.isOver, conversations.contains(current.conversation) else { return }
            current.leave(.ended)
        }
    }

    private func handle(_ event: ChatEvent, in conversation: ConversationID) async {
        switch event.kind {
        case .call: await self.rings(event)
        case .callUpdate:
            guard let seq = event.ref, case .callUpdate(let body)? = ChatChange(event) else { return }
            let stopsRing = body.state.isFinal || (body.state == .accepted && event.sender == self.me)
            if stopsRing, self.early[conversation]?.seq == seq { self.early[conversation] = nil }
            guard let current, current.conversation == conversation, current.seq == seq else { return }
            current.told(body.state, isOwn: event.sender == self.me, at: event.at)
        case .memberRemove, .memberBan, .memberLeave:
            guard let current, current.conversation == conversation else { return }
            let users = event.body["users"]?.arrayValue?.compactMap { $0.stringValue.flatMap { UserName($0) } }
            current.dismissed(users ?? [event.sender].compactMap { $0 })
        default: break
        }
    }

    private static let maximumEarly = 8
    /// The age in milliseconds after which a call no longer rings.
    private static let maximumAge = ChatLimits.ringSeconds * 1_000

    private func rings(_ event: ChatEvent) async {
        let age = self.client.store.now() - event.at
        guard case .call(let call)? = ChatBody(event), call.state == .ringing, let caller = event.sender, caller != self.me,
            age <= Self.maximumAge, self.lastRing != EventPlace(event)
        else { return }
        guard let head = try? await self.client.conversation(event.conversation).head else { return self.keep(event) }
        self.lastRing = EventPlace(event)
        if let current, !current.isOver {
            // The server combines two simultaneous calls of a pair. The answer to `call.start`
            // identifies the resulting call.
            guard current.conversation != event.conversation, head.kind == .pair else { return }
            Task { await self.report(.busy, event.conversation, event.seq) }
            return
        }
        let session = CallSession(
            self, event.conversation, seq: event.seq, media: call.media == .video ? .video : .audio, isGroup: head.kind != .pair,
            caller: caller, phase: .incoming)
        session.backend = call.backend
        self.begin(session)
        self.ring(session, for: Self.ringTime - .milliseconds(max(0, age)))
    }

    /// Keeps a call until the head of its conversation arrives. The server pushes the first event
    /// of a conversation before the head.
    private func keep(_ event: ChatEvent) {
        let now = self.client.store.now()
        self.early = self.early.filter { now - $0.value.at <= Self.maximumAge }
        if self.early.count < Self.maximumEarly { self.early[event.conversation] = event }
    }

    /// Updates the call after a reconnection. States of the log may have been missed, and a server
    /// that was restarted has no record of the devices of the call.
    func wentOnline() async {
        guard let current, !current.isOver, let seq = current.seq else { return await self.findRing() }
        if let event = try? await self.event(of: current), case .call(let call)? = ChatBody(event) {
            // In a pair, only a device of this user can have answered a call that rings here.
            let isOwn = current.machine.phase == .incoming && !current.isGroup
            let time = call.state == .accepted ? current.startedAt ?? event.editedAt ?? event.at : event.at
            current.told(call.state, isOwn: isOwn, at: time)
        }
        guard current.machine.phase == .active else { return }
        await self.report(.accepted, current.conversation, seq)
        await current.resume()
    }

    /// Shows a call that began to ring before the client was connected.
    private func findRing() async {
        for head in await self.client.heads where head.last?.kind == .call {
            guard !self.isBusy, let seq = head.last?.seq else { continue }
            if let event = try? await self.event(head.conversation, seq) { await self.rings(event) }
        }
    }
}

/// The conversation and the position that identify an event.
struct EventPlace: Hashable {
    var conversation: ConversationID
    var seq: Int64

    init(_ event: ChatEvent) {
        self.conversation = event.conversation
        self.seq = event.seq
    }
}
