import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension ReadContext {
    /// Answers `hello`.
    ///
    /// - Throws: `unsupported` for a client that cannot read answers of the maximum size.
    func hello(_ request: HelloRequest, limits: HelloLimits, features: [String], device: DeviceKey, at time: Int64) throws -> HelloAnswer {
        if let bytes = request.frameBytes, bytes < ChatLimits.answerBytes {
            throw ChatError(
                .unsupported,
                message: "The client must be able to read answers of \(ChatLimits.answerBytes) bytes; it reads at most \(bytes).",
                field: "frame_bytes")
        }
        let account = try self.account()
        let position = try self.reads.position()
        guard let epoch = PageToken(position.epoch) else {
            throw ChatError(.internal, message: "The server cannot encode the epoch of its data.")
        }
        var sync: SyncAnswer?
        if let wanted = request.sync, request.epoch == nil || request.epoch == epoch {
            do {
                sync = try SyncPages(context: self).answer(wanted)
            } catch let error as ChatError where error.code == .resync {
                // The client then sends a separate `sync`. If the server refuses it, the client
                // synchronizes from the beginning.
            }
        }
        var user = try self.user(account)
        user.online = true
        return HelloAnswer(
            version: min(request.version, ChatFeature.protocolVersion), features: features, limits: limits, epoch: epoch, at: time,
            user: user,
            device: DeviceID(number: device.rawValue), own: ConversationID(account.selfConversation), sync: sync)
    }
}
