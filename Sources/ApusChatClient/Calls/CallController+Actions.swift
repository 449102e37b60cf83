import ApusChatCore
public import ApusChatProtocol
import Logging

extension CallController {
    static let ringTime = Duration.seconds(ChatLimits.ringSeconds + 3)

    /// Calls the members of a conversation, or joins the call that is in progress there.
    ///
    /// - Parameters:
    ///   - conversation: The conversation whose members are called.
    ///   - media: The media that the user sends.
    /// - Throws: An error of the ``CallStack``, or a ``ChatClientError``: `invalidUse` during
    ///   another call, or the error of the request to the server.
    public func call(_ conversation: ConversationID, media: CallMedia) async throws {
        let head = try await self.client.conversation(conversation).head
        // Another call may have begun while this one waited for the head.
        guard !self.isBusy else {
            throw ChatClientError(.invalidUse, message: "another call rings or is in progress on this device; end it first")
        }
        let session = CallSession(self, conversation, media: media, isGroup: head.kind != .pair, caller: self.me, phase: .starting)
        self.begin(session)
        do {
            guard try await self.open(media, for: session) else { return }
            await session.prepare()
            await self.departure?.value
            guard !session.isOver else { return }
            let request = CallStartRequest(
                id: self.environment.makeID(), conversation: conversation, media: media, backends: self.stack.backends)
            let answer = try await self.engine.askPatiently(ChatVerbs.callStart, request)
            session.seq = answer.call
            (session.access, session.backend) = (answer.access, answer.access?.backend)
            guard !session.isOver else { return await self.depart(from: session) }
            try await self.started(session)
        } catch {
            session.handle { $0.ended(.failed) }
            throw error
        }
    }

    private func started(_ session: CallSession) async throws {
        let event = try await self.event(of: session)
        let call = event.flatMap { event in if case .call(let body)? = ChatBody(event) { body } else { nil } }
        let isOwn = event == nil || (event?.sender == self.me && call?.state == .ringing)
        session.handle { $0.started(isOwn: isOwn) }
        guard session.machine.phase == .joining else { return self.ring(session, for: Self.ringTime) }
        if let call, let event { session.adopt(call, of: event.sender) }
        // The server returned a call of another device: one in progress, or the earlier of two
        // simultaneous calls. This device accepts it.
        if let call, let event, call.state.isFinal { return session.told(call.state, isOwn: false, at: event.at) }
        try await self.join(session, isOpen: true)
    }

    /// Answers the call that rings.
    ///
    /// - Parameter media: The media that the user sends; nil for the media of the call.
    /// - Throws: An error of the ``CallStack`` or of the request to the server. The media are
    ///   closed, and the call continues to ring.
    public func answer(_ media: CallMedia? = nil) async throws {
        guard let session = self.current, session.machine.phase == .incoming else { return }
        if let backend = session.backend, !self.stack.backends.contains(backend) {
            throw ChatClientError(.invalidUse, message: "the application has no client for calls of \"\(backend)\"")
        }
        let media = media ?? session.media
        session.handle { $0.answered() }
        do {
            guard try await self.open(media, for: session) else { return }
            session.set(CallMediaState(camera: media == .video))
            await session.prepare()
            guard !session.isOver else { return }
            try await self.join(session, isOpen: session.isGroup)
        } catch {
            self.answerFailed(session)
            throw error
        }
    }

    /// Closes the media of an answer that failed, and continues the ringing.
    private func answerFailed(_ session: CallSession) {
        // The end of the call has closed the media.
        guard !session.isOver else { return }
        self.stack.close()
        session.handle { machine in
            machine.answerFailed()
            return .doNothing
        }
        // The timer may have fired while the call was being answered.
        self.ring(session, for: .milliseconds(max(0, session.ringEnd - self.environment.now())))
    }

    /// Opens the media for a call.
    ///
    /// - Returns: Whether the call continues. If it has ended in the meantime, the media are
    ///   closed.
    private func open(_ media: CallMedia, for session: CallSession) async throws -> Bool {
        defer { if session.isOver { self.closeMedia(of: session) } }
        try await self.stack.open(media)
        return !session.isOver
    }

    /// Closes media that were opened after their call had ended, unless a later call uses them.
    private func closeMedia(of session: CallSession) {
        if let current, current !== session, !current.isOver, current.machine.phase != .incoming { return }
        self.stack.close()
    }

    /// Reports the acceptance of the call to the server, and connects if this device takes the
    /// call.
    ///
    /// - Parameter isOpen: Whether several devices of the user may take part. If false, the first
    ///   one that answers takes the call.
    private func join(_ session: CallSession, isOpen: Bool) async throws {
        guard let seq = session.seq, let id = ClientID("accept-" + session.name) else { return }
        await self.departure?.value
        // A retry has the same id, so its answer also shows whether this device was the first.
        let answer = try await self.engine.askPatiently(
            ChatVerbs.callUpdate, CallUpdateRequest(id: id, conversation: session.conversation, call: seq, state: .accepted))
        if session.isOver { return await self.depart(from: session) }
        if answer.change.seq == nil, let event = try await self.event(of: session), case .call(let call)? = ChatBody(event),
            call.state.isFinal
        {
            return session.told(call.state, isOwn: false, at: event.at)
        }
        (session.access, session.backend) = (answer.access, answer.access?.backend)
        session.handle { $0.joined(counts: isOpen || answer.change.seq != nil) }
        if session.machine.phase == .active { await session.join() }
    }

    /// Declines the call that rings. In a group, it still rings for the other members.
    public func decline() async {
        guard let session = self.current, session.machine.phase == .incoming else { return }
        session.handle { $0.ended(.declined) }
        await self.report(.declined, of: session)
    }

    /// Ends the call. In a group, leaves the call, which continues for the other members.
    public func hangUp() async { await self.hangUp(.hungUp) }

    func hangUp(_ reason: DeviceCallMachine.Reason) async {
        guard let session = self.current, !session.isOver else { return }
        session.leave(reason)
        // If the reason is `elsewhere`, another device of the user continues the call.
        guard reason != .elsewhere else { return }
        // The server ends the call of a group when the last device has left.
        await self.depart(from: session)
    }

    /// Sends or stops sending the media of this device, and notifies the other devices.
    ///
    /// - Parameter state: The media that the user sends from now on.
    public func setMedia(_ state: CallMediaState) async throws {
        guard let session = self.current, !session.isOver else { return }
        defer { if session.isOver { self.closeMedia(of: session) } }
        try await self.stack.send(state)
        if !session.isOver { session.set(state) }
    }

    /// Requests new network paths. Call this method after the network of the device has changed.
    public func networkChanged() async { await self.current?.networkChanged() }

    func end(_ session: CallSession, _ reason: DeviceCallMachine.Reason) {
        guard session === self.current else { return }
        Task { await self.hangUp(reason) }
    }

    func joinRoom(of session: CallSession) {
        guard let access = session.access else { return }
        Task {
            defer { if session.isOver { self.closeMedia(of: session) } }
            do { try await self.stack.join(access) } catch {
                self.engine.logger.warning("A room could not be joined", metadata: ["call.error": "\(error)"])
                self.end(session, self.stack.backends.contains(access.backend) ? .failed : .unsupported)
            }
        }
    }

    // MARK: Requests

    /// Reports a state to the server. Ignores a failure, because the server also ends a call
    /// without devices.
    func report(_ state: CallState, of session: CallSession) async {
        guard let seq = session.seq else { return }
        await self.report(state, session.conversation, seq)
    }

    /// Reports that this device leaves or ends a call. A later call waits for the report, because
    /// the server must not receive the report after the device has joined again.
    func depart(from session: CallSession) async {
        guard let seq = session.seq else { return }
        let former = self.departure
        let departure = Task { [conversation = session.conversation] in
            await former?.value
            await self.report(.ended, conversation, seq)
        }
        self.departure = departure
        await departure.value
    }

    func report(_ state: CallState, _ conversation: ConversationID, _ seq: Int64) async {
        let request = CallUpdateRequest(id: self.environment.makeID(), conversation: conversation, call: seq, state: state)
        _ = try? await self.engine.askPatiently(ChatVerbs.callUpdate, request)
    }

    /// Requests the event of the call from the server; nil if the server has not stored the call.
    func event(of session: CallSession) async throws(ChatClientError) -> ChatEvent? {
        guard let seq = session.seq else { return nil }
        return try await self.event(session.conversation, seq)
    }

    func event(_ conversation: ConversationID, _ seq: Int64) async throws(ChatClientError) -> ChatEvent? {
        let request = HistoryRequest(conversation: conversation, range: .around(seq), limit: 1)
        return try await self.engine.askPatiently(ChatVerbs.history, request).events.first { $0.seq == seq && $0.kind == .call }
    }

    /// Returns the other user of a pair; nil if the conversation is not a pair or not known.
    func peer(in conversation: ConversationID) async -> UserName? {
        try? await self.client.conversation(conversation).head.peer?.name
    }
}

extension CallState {
    var isFinal: Bool {
        switch self {
        case .ended, .missed, .declined, .busy: true
        case .ringing, .accepted, .unknown: false
        }
    }
}
