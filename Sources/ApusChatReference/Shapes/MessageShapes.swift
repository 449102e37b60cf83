import ApusChatProtocol

extension ChatReference {
    /// The bodies of messages.
    static let messageShapes = [
        Shape(
            "text", "The body of a `text` message.",
            [
                .must("text", .words(ChatLimits.textLength), "The text. Clients show it literally, never as markup."),
                .may("entities", .list(.shape("Entity"), ChatLimits.entities), "The formats, links and mentions in the text."),
                .may("preview", .shape("LinkPreview"), "The preview of the first link. Set by the server."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ],
            example: #"""
                {"text": "See https://example.org", "entities": [{"type": "link", "offset": 4, "length": 19,
                 "url": "https://example.org"}], "forwarded": {"sender": "carol", "nick": "Carol",
                 "at": 1790000000000}}
                """#, recode: Recode(TextBody.self)),
        Shape(
            "image",
            "The body of an `image` message. The server replaces the size and the type with those of the file, and the dimensions if it can determine them. It adds `thumb` if it is absent.",
            [
                .must("blob", .blob, "The picture."),
                .must("width", .integer(1...ChatLimits.imageSide), "The width in pixels, after the orientation is applied."),
                .must("height", .integer(1...ChatLimits.imageSide), "The height in pixels, after the orientation is applied."),
                .must("size", .integer(1...ChatLimits.fileBytes), "The size in bytes."),
                .must("type", .words(100), "The media type."),
                .may("thumb", .words(200), "A BlurHash of the picture, which is shown while the picture is loaded."),
                .may("name", .words(ChatLimits.fileNameLength), "The name of the file, without a path."),
                .may("album", .words(36), "A text that messages have in common if they are shown together as an album."),
                .may("text", .words(ChatLimits.captionLength), "The caption."),
                .may("entities", .list(.shape("Entity"), ChatLimits.entities), "The format of the caption."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ],
            example: #"""
                {"blob": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "width": 1280,
                 "height": 960, "size": 184320, "type": "image/jpeg", "thumb": "LEHV6nWB2yk8", "text": "The boat"}
                """#, recode: Recode(ImageBody.self)),
        Shape(
            "audio",
            "The body of an `audio` message. The server replaces the size and the type with those of the file, and the duration if it can determine it.",
            [
                .must("blob", .blob, "The recording."),
                .must("size", .integer(1...ChatLimits.fileBytes), "The size in bytes."),
                .must("type", .words(100), "The media type."),
                .must("duration", .integer(0...ChatLimits.mediaMilliseconds), "The duration in milliseconds."),
                .may("voice", .bool, "Whether it is a voice message."),
                .may("wave", .words(200), "The loudness of up to 100 parts of equal duration, as two hexadecimal digits each."),
                .may("name", .words(ChatLimits.fileNameLength), "The name of the file, without a path."),
                .may("text", .words(ChatLimits.captionLength), "The caption."),
                .may("entities", .list(.shape("Entity"), ChatLimits.entities), "The format of the caption."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ],
            example: #"""
                {"blob": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "size": 48211,
                 "type": "audio/ogg", "duration": 7300, "voice": true, "wave": "0a3fc044"}
                """#, recode: Recode(AudioBody.self)),
        Shape(
            "video",
            "The body of a `video` message. The server replaces the size and the type with those of the file, and the dimensions and the duration if it can determine them. It adds `thumb` if it is absent.",
            [
                .must("blob", .blob, "The video."),
                .must("width", .integer(1...ChatLimits.imageSide), "The width in pixels."),
                .must("height", .integer(1...ChatLimits.imageSide), "The height in pixels."),
                .must("size", .integer(1...ChatLimits.fileBytes), "The size in bytes."),
                .must("type", .words(100), "The media type."),
                .must("duration", .integer(0...ChatLimits.mediaMilliseconds), "The duration in milliseconds."),
                .may("poster", .blob, "A picture that is shown before the video plays."),
                .may("thumb", .words(200), "A BlurHash of the video, which is shown while the video is loaded."),
                .may("name", .words(ChatLimits.fileNameLength), "The name of the file, without a path."),
                .may("album", .words(36), "A text that messages have in common if they are shown together as an album."),
                .may("text", .words(ChatLimits.captionLength), "The caption."),
                .may("entities", .list(.shape("Entity"), ChatLimits.entities), "The format of the caption."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ],
            example: #"""
                {"blob": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "width": 1920,
                 "height": 1080, "size": 9437184, "type": "video/mp4", "duration": 14200,
                 "poster": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
                """#, recode: Recode(VideoBody.self)),
        Shape(
            "file", "The body of a `file` message. The server replaces the size and the type with those of the file.",
            [
                .must("blob", .blob, "The file."),
                .must("name", .words(ChatLimits.fileNameLength), "The name of the file, without a path."),
                .must("size", .integer(0...ChatLimits.fileBytes), "The size in bytes."),
                .must("type", .words(100), "The media type."),
                .may("text", .words(ChatLimits.captionLength), "The caption."),
                .may("entities", .list(.shape("Entity"), ChatLimits.entities), "The format of the caption."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ],
            example: #"""
                {"blob": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "name": "Plan.pdf",
                 "size": 52011, "type": "application/pdf"}
                """#, recode: Recode(FileBody.self)),
        Shape(
            "location", "The body of a `location` message.",
            [
                .must("latitude", .number(-90...90), "The latitude in degrees north (WGS 84)."),
                .must("longitude", .number(-180...180), "The longitude in degrees east (WGS 84)."),
                .may("accuracy", .number(0...1_000_000), "The radius of the area in which the place is, in metres."),
                .may("name", .words(ChatLimits.titleLength), "The name of the place."),
                .may("address", .words(300), "The address."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ], example: #"{"latitude": 54.3233, "longitude": 10.1228, "accuracy": 12.5, "name": "Kiel"}"#, recode: Recode(LocationBody.self)
        ),
        Shape(
            "card", "The body of a `card` message: a user, to be shown as a business card.",
            [
                .must("user", .user, "The user."),
                .may("nick", .words(ChatLimits.nickLength), "The shown name of the user at that time."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ], example: #"{"user": "carol", "nick": "Carol"}"#, recode: Recode(CardBody.self)),
        Shape(
            "call", "The body of a `call`. The server creates it and changes it until the call has ended.",
            [
                .must("media", .choice(CallMedia.self), "`audio` or `video`."),
                .must("state", .choice(CallState.self), "The state."),
                .may("duration", .time, "The time from acceptance to the end, in milliseconds."),
                .may(
                    "backend", .string(1...40),
                    "The media server that carries the call, such as `livekit`; absent if the devices connect to each other."),
            ], example: #"{"media": "audio", "state": "ended", "duration": 63000}"#, recode: Recode(CallBody.self)),
        Shape(
            "poll", "The body of a `poll`.",
            [
                .must("question", .words(ChatLimits.questionLength), "The question."),
                .must("options", .list(.words(ChatLimits.optionLength), ChatLimits.pollOptions), "The options, at least 2."),
                .may("multiple", .bool, "Whether a user can vote for several options."),
                .may("anonymous", .bool, "Whether votes are counted without revealing the voters."),
                .may("closes_at", .time, "The time at which the poll ends."),
                .may("closed", .bool, "Whether the poll has ended. Set by the server."),
                .may("forwarded", .shape("ForwardedFrom"), "The origin of a forwarded message. Set by the server."),
            ],
            example: #"""
                {"question": "When?", "options": ["Tuesday", "Friday"], "multiple": true,
                 "closes_at": 1790000000000}
                """#, recode: Recode(PollBody.self)),
        Shape(
            "bundle", "The body of a `bundle`: several forwarded messages in one. Created by the server.",
            [
                .must("title", .words(ChatLimits.titleLength), "The title."),
                .must("items", .list(.shape("BundleItem"), ChatLimits.bundleMessages), "The messages, in their original order."),
            ],
            example: #"""
                {"title": "Plans", "items": [{"sender": "bob", "nick": "Bob", "at": 1790000000000, "kind": "text",
                 "body": {"text": "At six"}}]}
                """#, recode: Recode(BundleBody.self)),
        Shape(
            "encrypted", "The body of an `encrypted` message (RFC 9420). Reserved: servers of this version refuse it.",
            [
                .must("epoch", .count, "The epoch of the group."),
                .must("data", .words(ChatLimits.customBytes), "The MLSMessage in base64url (RFC 4648 section 5)."),
            ], example: #"{"epoch": 4, "data": "AAEC"}"#, recode: Recode(EncryptedBody.self)),
    ]
}
