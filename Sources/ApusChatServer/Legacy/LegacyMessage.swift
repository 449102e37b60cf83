import ApusChatProtocol
import ApusJSON
import Crypto

/// The reason why the server does not perform an event of an app that uses the legacy protocol.
///
/// The legacy protocol has no error messages. The app receives no acknowledgement and shows the
/// message as not sent.
struct LegacyRefusal: Error, Hashable {
    var message: String

    init(_ message: String) { self.message = message }
}

/// A `chat` or `GroupChat` that an app has sent.
struct LegacyMessage: Hashable {
    /// The content of a message.
    enum Content: Hashable {
        case text(String)
        case file(File)
        case place(Place)
    }

    /// A picture, recording or video.
    struct File: Hashable {
        enum Kind: String { case picture = "img", voice = "audio", film = "video" }

        var kind: Kind
        var name: String
        /// The bytes; empty if the message refers to an earlier upload.
        var bytes: [UInt8]
        /// The path of an earlier upload; nil if the message contains the bytes.
        var path: String?
        /// The duration in milliseconds.
        var duration: Int64
        var width: Int64
        var height: Int64
    }

    struct Place: Hashable {
        var latitude: Double
        var longitude: Double
        var name: String?
        var address: String?
    }

    /// The maximum size of an attached file, in bytes. The listener accepts messages of this size.
    static let fileBytes = 20 << 20

    /// The account name of the other user, or the name of the group.
    var recipient: String
    /// The sender that the app names, which must be the account of the connection.
    var claimedSender: String?
    /// The time at which the app sent the message, in milliseconds since 1970; 0 if the app names
    /// none.
    var sentAt: Int64
    var content: Content
    /// The event as it was sent, without the bytes of its file.
    var received: JSONObject

    /// Decodes a `chat`.
    init(chat value: JSONValue) throws(LegacyRefusal) { try self.init(value, recipient: "to_user") }

    /// Decodes a `GroupChat`.
    init(groupChat value: JSONValue) throws(LegacyRefusal) { try self.init(value, recipient: "roomId") }

    private init(_ value: JSONValue, recipient field: String) throws(LegacyRefusal) {
        guard var object = value.objectValue else { throw LegacyRefusal("The message must be an object.") }
        guard let recipient = object[field]?.stringValue, !recipient.isEmpty else { throw LegacyRefusal("`\(field)` must be a name.") }
        var bodies = try Self.bodies(object["bodies"])
        self.recipient = recipient
        self.claimedSender = object["from_user"]?.stringValue
        self.sentAt = Self.integer(object["sendtime"] ?? object["sendTime"]) ?? 0
        self.content = try Self.content(bodies)
        bodies["fileData"] = nil
        object["bodies"] = .object(bodies)
        self.received = object
    }

    /// Returns whether the app names a sender other than the account of its connection.
    func isForged(by user: UserName) -> Bool {
        self.claimedSender.map { !$0.isEmpty && UserName($0) != user } ?? false
    }

    /// Returns an id that identifies repetitions of the message, because the legacy protocol has no
    /// message ids. It is a hash of the sender, the recipient, the time and the content.
    func id(from sender: UserName) -> ClientID? {
        var hash = SHA256()
        func add(_ bytes: some Sequence<UInt8>) {
            let bytes = Array(bytes)
            // The length precedes each field, so that the boundary between two fields is
            // unambiguous.
            hash.update(data: (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (56 - 8 * $0)) } + bytes)
        }
        add(sender.rawValue.utf8)
        add(self.recipient.utf8)
        add(String(self.sentAt).utf8)
        switch self.content {
        case .text(let text):
            add("txt".utf8)
            add(text.utf8)
        case .file(let file):
            add(file.kind.rawValue.utf8)
            add(file.bytes)
            add((file.path ?? "").utf8)
            add(file.name.utf8)
        case .place(let place):
            add("loc".utf8)
            add("\(place.latitude) \(place.longitude)".utf8)
            add((place.name ?? "").utf8)
        }
        let digits = hash.finalize().prefix(24).map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 2 ? text : "0" + text
        }
        return ClientID("old-" + digits.joined())
    }
}

extension LegacyMessage {
    /// Decodes `bodies`, which is an object or its JSON text.
    private static func bodies(_ value: JSONValue?) throws(LegacyRefusal) -> JSONObject {
        switch value {
        case .object(let object): return object
        case .string(let text):
            guard text.utf8.count <= ChatLimits.requestBytes,
                let object = (try? JSONReader.read(text, limits: .init(loneSurrogates: .replace)))?.objectValue
            else { throw LegacyRefusal("`bodies` must be an object.") }
            return object
        default: throw LegacyRefusal("`bodies` must be an object.")
        }
    }

    private static func content(_ bodies: JSONObject) throws(LegacyRefusal) -> Content {
        switch bodies["type"]?.stringValue {
        case "txt":
            guard let text = bodies["msg"]?.stringValue, !text.isEmpty else { throw LegacyRefusal("`bodies.msg` must be a string.") }
            return .text(text)
        case "img": return .file(try self.file(.picture, bodies))
        case "audio": return .file(try self.file(.voice, bodies))
        case "video": return .file(try self.file(.film, bodies))
        case "loc":
            guard let latitude = bodies["latitude"]?.doubleValue, (-90.0...90).contains(latitude),
                let longitude = bodies["longitude"]?.doubleValue, (-180.0...180).contains(longitude)
            else { throw LegacyRefusal("`bodies.latitude` and `bodies.longitude` must be degrees.") }
            return .place(
                Place(
                    latitude: latitude, longitude: longitude,
                    name: self.line(bodies["locationName"]?.stringValue, maximum: ChatLimits.titleLength),
                    address: self.line(bodies["detailLocationName"]?.stringValue, maximum: 300)))
        default: throw LegacyRefusal("`bodies.type` must be txt, img, audio, video or loc.")
        }
    }

    private static func file(_ kind: File.Kind, _ bodies: JSONObject) throws(LegacyRefusal) -> File {
        let bytes = bodies["fileData"]?.binaryValue ?? []
        guard bytes.count <= Self.fileBytes else { throw LegacyRefusal("The file must have at most \(Self.fileBytes) bytes.") }
        let path = bodies["fileRemotePath"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
        guard !bytes.isEmpty || path != nil else { throw LegacyRefusal("`bodies.fileData` must be the file.") }
        let size = bodies["size"]?.objectValue ?? [:]
        func side(_ name: String) -> Int64 { min(max(self.integer(size[name]) ?? 1, 1), ChatLimits.imageSide) }
        let seconds = min(max(bodies["duration"]?.doubleValue ?? 0, 0), 86_400)
        return File(
            kind: kind, name: self.name(bodies["fileName"]?.stringValue, kind), bytes: bytes, path: bytes.isEmpty ? path : nil,
            duration: Int64(seconds * 1_000), width: side("width"), height: side("height"))
    }

    /// Returns the name of a file without a path and without control characters.
    private static func name(_ text: String?, _ kind: File.Kind) -> String {
        let last = text?.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { String(String.UnicodeScalarView($0)) }
        guard let name = self.line(last, maximum: 100), name != ".", name != ".." else { return kind.rawValue }
        return name
    }

    /// Returns a text as one line of a maximum length; nil if it is empty.
    private static func line(_ text: String?, maximum: Int) -> String? {
        let scalars = text?.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(maximum)
        guard let scalars, scalars.contains(where: { !$0.properties.isWhitespace }) else { return nil }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Decodes an integer, which an app sends as a number or as text; nil if it is neither.
    static func integer(_ value: JSONValue?) -> Int64? {
        switch value {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number.rounded())
        case .string(let text): Int64(text)
        default: nil
        }
    }
}
