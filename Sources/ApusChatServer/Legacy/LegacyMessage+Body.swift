import ApusChatProtocol
import ApusJSON

extension LegacyMessage {
    /// The properties of an uploaded file, as the server measured them.
    struct Stored: Hashable {
        var blob: BlobID
        var size: Int64
        /// The media type, determined from the content of the file.
        var type: String
        /// The width of a picture; 0 for other files.
        var width: Int64
        var height: Int64
    }

    /// Returns the body of the message in the chat.
    ///
    /// A file whose content does not match the kind that the app names, such as a damaged picture,
    /// is sent as a generic file.
    ///
    /// - Parameter stored: The uploaded file of the message; nil for a message without a file.
    func body(_ stored: Stored?) -> ChatBody? {
        switch self.content {
        case .text(let text): return .text(TextBody(text: text))
        case .place(let place):
            return .location(
                LocationBody(latitude: place.latitude, longitude: place.longitude, name: place.name, address: place.address))
        case .file(let file):
            guard let stored else { return nil }
            let name = file.name
            switch file.kind {
            case .picture where stored.type.hasPrefix("image/") && stored.width > 0:
                return .image(
                    ImageBody(
                        blob: stored.blob, width: stored.width, height: stored.height, size: stored.size, type: stored.type, name: name))
            case .voice where stored.type.hasPrefix("audio/") || stored.type == "video/mp4":
                // Some sound recorders write a video file without a picture track.
                let type = stored.type == "video/mp4" ? "audio/mp4" : stored.type
                return .audio(
                    AudioBody(blob: stored.blob, size: stored.size, type: type, duration: file.duration, isVoice: true, name: name))
            case .film where stored.type.hasPrefix("video/"):
                return .video(
                    VideoBody(
                        blob: stored.blob, width: file.width, height: file.height, size: stored.size, type: stored.type,
                        duration: file.duration, name: name))
            case .picture, .voice, .film:
                return .file(FileBody(blob: stored.blob, name: name, size: stored.size, type: stored.type))
            }
        }
    }

    /// Returns the acknowledgement: the message as it was sent, with the properties that the server
    /// has added.
    ///
    /// - Parameter paths: Computes the permanent path of the file.
    func ack(id: String, at time: Int64, from sender: UserName, paths: LegacyPaths, body: ChatBody) -> JSONObject {
        var ack = self.received
        ack["from_user"] = .string(sender.rawValue)
        ack["msg_id"] = .string(id)
        ack["timestamp"] = .integer(time)
        var bodies = ack["bodies"]?.objectValue ?? [:]
        for (key, value) in LegacyBodies(paths: paths).files(of: body) { bodies[key] = value }
        ack["bodies"] = .object(bodies)
        return ack
    }
}
