import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

extension VerbTable {
    mutating func addCalls(_ settings: VerbSettings) {
        let backend = settings.callBackend
        self.change(ChatVerbs.callStart) { request, requester in
            let identity = try ChatVerbs.callStart.identity(of: request)
            let offer = backend.map { CallBackendOffer(kind: $0.kind, isSupported: request.backends.contains($0.kind)) }
            let command = requester.command(.startCall(request.conversation.key, request.media, offer), identity)
            return Change(
                commands: { _, _ in [command] },
                answer: Self.answer(backend) { stored, context in
                    let call = EventAddress(request.conversation.key, stored.seq)
                    let access = try context?.access(to: call, by: requester, backend, supported: request.backends)
                    return CallAnswer(conversation: request.conversation, call: stored.seq, at: stored.at, access: access).json
                })
        }
        self.change(ChatVerbs.callUpdate) { request, requester in
            let identity = try ChatVerbs.callUpdate.identity(of: request)
            let call = EventAddress(request.conversation.key, request.call)
            let command = requester.command(.updateCall(call, request.state), identity)
            return Change(
                commands: { _, _ in [command] },
                answer: Self.answer(request.state == .accepted ? backend : nil) { stored, context in
                    let access = try context?.access(to: call, by: requester, backend)
                    return CallUpdateAnswer(ChangeAnswer(stored, id: request.id), access: access).json
                })
        }
        self.read(ChatVerbs.callServers) { [callServers = settings.callServers] _, context in
            callServers(try context.account().name)
        }
    }

    /// Returns the way in which an answer is created. With a media server, the answer requires a
    /// read.
    private static func answer(
        _ backend: (any CallBackend)?, _ body: @escaping @Sendable (StoredAnswer, ReadContext?) throws -> JSONValue
    ) -> Change.Answer {
        // Without a context the body reads nothing, and cannot fail.
        backend == nil ? .place { (try? body($0, nil)) ?? .null } : .reading { try body($0, $1) }
    }
}

extension ReadContext {
    /// Returns the access of a device to the room of a call; nil if the devices connect to each
    /// other, or the call has ended.
    ///
    /// - Parameter supported: The kinds of media servers that the client supports; nil if the
    ///   request does not name them.
    fileprivate func access(
        to call: EventAddress, by requester: Requester, _ backend: (any CallBackend)?, supported: [String]? = nil
    ) throws -> CallAccess? {
        guard let backend, let row = try self.reads.events(in: call.conversation, .from(call.seq), as: self.viewer, limit: 1).first?.row,
            row.seq == call.seq, row.kind == .call, let object = try? JSONValue(jsonString: row.body).objectValue,
            let body = try? CallBody(from: WireReader(object)), body.backend == backend.kind,
            body.state == .ringing || body.state == .accepted
        else { return nil }
        guard supported?.contains(backend.kind) ?? true else { throw ChatError.needsBackend(backend.kind) }
        let account = try self.account()
        return try backend.access(
            to: CallRoom(call), for: account.name, named: account.nickname, on: DeviceID(number: requester.device.rawValue))
    }
}
