import ApusChatHTTP
import ApusChatProtocol
import ApusJSON

/// Computes the permanent paths of files, relative to the address of the server.
struct LegacyPaths: Sendable {
    /// Returns the secret part of the path of a file.
    var tag: @Sendable (BlobID) -> String

    /// The path of the map picture that every location has, because the server uses no map service.
    static let map = "images/location.png"

    /// Returns the path of a file. The media type determines the extension.
    func path(of blob: BlobID, type: String) -> String {
        "images/\(blob.rawValue)-\(self.tag(blob)).\(Self.fileExtension(of: type))"
    }

    /// Returns the path of a small JPEG of a picture or video.
    func thumbnail(of blob: BlobID) -> String { "images/\(blob.rawValue)-\(self.tag(blob))\(Self.thumbnailSuffix)" }

    static let thumbnailSuffix = ".thumb.jpg"

    /// Returns the path of a recording in a format that the apps can play.
    func voice(of blob: BlobID, type: String) -> String {
        "images/\(blob.rawValue)-\(self.tag(blob)).\(Self.voiceExtension(of: type))"
    }

    static func voiceExtension(of type: String) -> String {
        ["audio/amr", "audio/mpeg", "audio/wav"].contains(type) ? self.fileExtension(of: type) : "m4a"
    }

    /// Returns the preview that a path requests; nil if the path requests the uploaded file.
    static func form(of component: some StringProtocol, type: String) -> PreviewKind? {
        if component.hasSuffix(self.thumbnailSuffix) { return .plain }
        return component.hasSuffix(".m4a") && type != "audio/mp4" ? .voice : nil
    }

    /// Returns the blob in the last component of a path; nil if the server did not create the path.
    func blob(named component: some StringProtocol) -> BlobID? {
        let name = component.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard name.count == 64 + 1 + 32, let blob = BlobID(String(decoding: name.prefix(64), as: UTF8.self)),
            name.dropFirst(64).first == UInt8(ascii: "-")
        else { return nil }
        // Compares all bytes, so that the duration does not depend on the content.
        let difference = zip(name.dropFirst(65), self.tag(blob).utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? blob : nil
    }

    static func fileExtension(of type: String) -> String {
        switch type {
        case "image/png": "png"
        case "image/jpeg": "jpg"
        case "image/gif": "gif"
        case "image/webp": "webp"
        case "audio/amr": "amr"
        case "audio/mp4": "m4a"
        case "audio/ogg": "ogg"
        case "audio/wav": "wav"
        case "audio/mpeg": "mp3"
        case "video/mp4": "mp4"
        case "video/quicktime": "mov"
        case "video/webm": "webm"
        default: "bin"
        }
    }
}

/// Encodes the `bodies` of messages in the legacy protocol.
struct LegacyBodies: Sendable {
    let paths: LegacyPaths

    /// The maximum size of a picture that is sent with its message instead of a thumbnail, in
    /// bytes.
    static let thumbnailBytes: Int64 = 64 << 10

    /// Returns the bodies of one message. A kind that the legacy protocol does not define becomes a
    /// text. A caption becomes a separate text.
    func bodies(of body: ChatBody) -> [JSONObject] {
        var bodies: [JSONObject]
        var caption: String?
        switch body {
        case .image(let image):
            bodies = [
                [
                    "type": "img", "fileName": .string(image.name ?? "picture." + LegacyPaths.fileExtension(of: image.type)),
                    "size": ["width": .integer(image.width), "height": .integer(image.height)],
                ]
            ]
            caption = image.text
        case .audio(let audio):
            bodies = [
                [
                    "type": "audio", "fileName": .string(audio.name ?? "voice." + LegacyPaths.voiceExtension(of: audio.type)),
                    "duration": Self.seconds(audio.duration),
                ]
            ]
            caption = audio.text
        case .video(let video):
            bodies = [
                [
                    "type": "video", "fileName": .string(video.name ?? "video." + LegacyPaths.fileExtension(of: video.type)),
                    "duration": Self.seconds(video.duration),
                    "size": ["width": .integer(video.width), "height": .integer(video.height)],
                ]
            ]
            caption = video.text
        case .location(let location):
            bodies = [
                [
                    "type": "loc", "latitude": .double(location.latitude), "longitude": .double(location.longitude),
                    "locationName": .string(location.name ?? ""), "detailLocationName": .string(location.address ?? ""),
                ]
            ]
        case .text, .file, .card, .call, .poll, .bundle, .encrypted, .custom:
            guard let text = self.text(of: body) else { return [] }
            bodies = [["type": "txt", "msg": .string(text)]]
        }
        for (key, value) in self.files(of: body) { bodies[0][key] = value }
        if let caption { bodies.append(["type": "txt", "msg": .string(caption)]) }
        return bodies
    }

    /// Returns the fields that contain the paths of the files of a body.
    func files(of body: ChatBody) -> JSONObject {
        switch body {
        case .image(let image):
            let path = self.paths.path(of: image.blob, type: image.type)
            return ["fileRemotePath": .string(path), "thumbnailRemotePath": .string(self.paths.thumbnail(of: image.blob))]
        case .audio(let audio): return ["fileRemotePath": .string(self.paths.voice(of: audio.blob, type: audio.type))]
        case .video(let video):
            return [
                "fileRemotePath": .string(self.paths.path(of: video.blob, type: video.type)),
                "thumbnailRemotePath": .string(self.paths.thumbnail(of: video.poster ?? video.blob)),
            ]
        case .file(let file): return ["fileRemotePath": .string(self.paths.path(of: file.blob, type: file.type))]
        case .location: return ["fileRemotePath": .string(LegacyPaths.map)]
        case .text, .card, .call, .poll, .bundle, .encrypted, .custom: return [:]
        }
    }

    /// Returns the picture that is sent with a message instead of a thumbnail; nil if there is
    /// none.
    func thumbnail(of body: ChatBody) -> BlobID? {
        if case .image(let image) = body, image.size <= Self.thumbnailBytes { image.blob } else { nil }
    }

    /// Returns the text for a kind that the legacy protocol does not define; nil for a kind that is
    /// not shown.
    private func text(of body: ChatBody) -> String? {
        switch body {
        case .text(let text): text.text
        case .file(let file):
            "[File] \(file.name)\n\(self.paths.path(of: file.blob, type: file.type))" + (file.text.map { "\n" + $0 } ?? "")
        case .card(let card): "[Contact] " + (card.nick.map { "\($0) (\(card.user.rawValue))" } ?? card.user.rawValue)
        case .call(let call):
            switch call.state {
            case .missed: "[Missed call]"
            case .declined: "[Declined call]"
            case .busy: "[Call: busy]"
            case .ringing, .accepted, .ended, .unknown: nil
            }
        case .poll(let poll): "[Poll] \(poll.question)" + poll.options.map { "\n- " + $0 }.joined()
        case .bundle: "[Messages] " + (body.previewText ?? "")
        case .encrypted: "[Encrypted message]"
        case .custom: body.previewText ?? "[Message]"
        case .image, .audio, .video, .location: nil
        }
    }

    private static func seconds(_ milliseconds: Int64) -> JSONValue {
        milliseconds % 1_000 == 0 ? .integer(milliseconds / 1_000) : .double(Double(milliseconds) / 1_000)
    }
}
