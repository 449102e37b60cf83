import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension ReadContext {
    /// Answers `hello`.
    ///
    /// - Throws: `unsupported` for a client that reads smaller frames than the server sends.
    func hello(_ request: HelloRequest, limits: HelloLimits, device: DeviceKey, at time: Int64) throws -> HelloAnswer {
        if let bytes = request.frameBytes, bytes < ChatLimits.answerBytes {
            throw ChatError(
                .unsupported, message: "The answers have up to \(ChatLimits.answerBytes) bytes, and the client reads \(bytes).",
                field: "frame_bytes")
        }
        let account = try self.account()
        let position = try self.reads.position()
        guard let epoch = PageToken(position.epoch) else { throw ChatError(.internal, message: "The data has no epoch.") }
        var sync: SyncAnswer?
        if let wanted = request.sync, request.epoch == nil || request.epoch == epoch {
            do {
                sync = try SyncPages(context: self).answer(wanted)
            } catch let error as ChatError where error.code == .resync {
                // The client syncs by a request of its own, whose refusal tells it to begin anew.
            }
        }
        var user = try self.user(account)
        user.online = true
        return HelloAnswer(
            version: min(request.version, ChatFeature.protocolVersion), limits: limits, epoch: epoch, at: time, user: user,
            device: DeviceID(number: device.rawValue), own: ConversationID(account.selfConversation), sync: sync)
    }
}
