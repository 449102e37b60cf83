import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Builds the bodies of the events that the server creates, as JSON text.
enum ChangeBody {
    static func text(_ members: JSONObject) -> String {
        // The encoding cannot fail: the bodies contain no binary data and no infinite numbers.
        (try? JSONValue.object(members).jsonString()) ?? "{}"
    }

    static func edit(_ body: String) -> String { "{\"body\":\(body)}" }

    static func users(_ names: [UserName]) -> JSONObject { ["users": .array(names.map { .string($0.rawValue) })] }

    static func create(_ create: CreateCommand) -> String {
        var body: JSONObject = ["kind": .string(create.kind.rawValue)]
        if !create.profile.title.isEmpty { body["title"] = .string(create.profile.title) }
        return Self.text(body)
    }

    /// Returns the body of `member.join`.
    ///
    /// - Parameter via: The way in which the users joined: `add`, `invite`, `link`, `directory` or
    ///   `approval`.
    static func join(_ names: [UserName], via: String) -> String {
        var body = Self.users(names)
        body["via"] = .string(via)
        return Self.text(body)
    }

    static func update(_ update: ConversationUpdate) -> String {
        var body: JSONObject = [:]
        if let title = update.title { body["title"] = .string(title) }
        if let about = update.about { body["about"] = .string(about) }
        if let avatar = update.avatar { body["avatar"] = .string(avatar?.rawValue ?? "") }
        if !update.settings.isEmpty {
            var writer = WireWriter()
            update.settings.write(to: &writer)
            body["settings"] = .object(writer.object)
        }
        return Self.text(body)
    }

    static func conversation(_ key: ConversationKey, _ members: JSONObject = [:]) -> String {
        var body = members
        body["conv"] = .string(ConversationID(number: key.rawValue).rawValue)
        return Self.text(body)
    }
}
