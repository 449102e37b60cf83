import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Scheduled messages.
extension VerbTable {
    mutating func addScheduled() {
        self.change(ChatVerbs.schedule) { request, requester in
            let identity = try ChatVerbs.schedule.identity(of: request)
            let draft = ContentDraft(kind: request.kind, body: request.body)
            // Removes fields that are unknown or that only the server may set, as for a message
            // that is sent now.
            var scheduled = ScheduledMessage(request)
            if case .success(let accepted) = draft.accepted { scheduled.body = accepted.fields }
            let answer = ScheduleAnswer(scheduled: scheduled).json
            let body = try JSONValue.object(scheduled.body).jsonString()
            return Change(
                names: draft.mentions, needsReads: draft.hasBlobs,
                commands: { keys, context in
                    let send = SendCommand(
                        conversation: request.conversation.key, content: draft.content(keys, context), ref: request.ref ?? 0,
                        thread: request.thread ?? 0, isSilent: request.isSilent)
                    let schedule = ScheduleCommand(send: send, kind: request.kind, body: body, sendAt: request.sendAt)
                    return [requester.command(.schedule(schedule), identity)]
                },
                answer: .place { _ in answer })
        }
        self.read(ChatVerbs.scheduled) { request, context in
            let rows = try context.reads.scheduled(of: context.viewer, limit: ChatLimits.scheduledMessages)
            let all = rows.filter { request.conversation == nil || $0.conversation == request.conversation?.key }
            let from = try Int(PageText.key(request.page) ?? 0)
            let rest = all.dropFirst(max(0, from)).map { ScheduledMessage($0) }
            let count = AnswerSize.fitting(rest)
            let page = count < rest.count ? try PageText.token(after: Int64(from + count)) : nil
            return ScheduledAnswer(scheduled: Array(rest.prefix(count)), page: page)
        }
        self.change(ChatVerbs.unschedule) { request, _ in .unschedule(request.target) }
    }
}

extension ScheduledMessage {
    fileprivate init(_ request: ScheduleRequest) {
        self.init(
            id: request.id, conversation: request.conversation, kind: request.kind, body: request.body, ref: request.ref,
            thread: request.thread, isSilent: request.isSilent, sendAt: request.sendAt)
    }

    fileprivate init(_ row: ScheduledRow) {
        self.init(
            id: row.address.id, conversation: ConversationID(row.conversation), kind: row.kind,
            body: (try? JSONValue(jsonString: row.body))?.objectValue ?? [:], ref: row.ref > 0 ? row.ref : nil,
            thread: row.thread > 0 ? row.thread : nil, isSilent: row.isSilent, sendAt: row.sendAt,
            error: row.failure.isEmpty ? nil : ChatError.Code(rawValue: row.failure) ?? .unknown)
    }
}

extension SendCommand {
    /// Validates a scheduled message as if it were sent now.
    init(_ row: ScheduledRow, _ context: ReadContext) {
        let body = (try? JSONValue(jsonString: row.body))?.objectValue ?? [:]
        let draft = ContentDraft(kind: row.kind, body: body)
        let keys = (try? context.names.keys(of: draft.mentions, context.reads)) ?? []
        self.init(
            conversation: row.conversation, content: draft.content(keys, context), ref: row.ref, thread: row.thread, isSilent: row.isSilent)
    }
}
