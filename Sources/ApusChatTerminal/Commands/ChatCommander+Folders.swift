import ApusChatClient
package import ApusChatProtocol

/// Folders of conversations.
extension ChatCommander {
    func folders(_ call: ChatCall) async throws {
        let folders = try await self.client.settings().folders ?? []
        switch call.name {
        case .folder:
            let chat = try self.opened()
            let known = folders.first { $0.name.lowercased() == call.words.lowercased() }
            if let known, known.filter != nil {
                throw ChatClientError(
                    .invalidUse,
                    message: "the rule of the folder \(ChatText.harmless(known.name)) determines its conversations; name another folder")
            }
            let name = known?.name ?? call.words
            if known == nil { try await self.client.set(UserSettings(folders: folders + [Folder(name: name)])) }
            let own = try await chat.head.own.folders.filter { $0 != name }
            try await chat.setOwn(folders: own + [name])
            self.say("The conversation is in the folder. /chats \(ChatText.harmless(name)) lists it.")
        case .unfolder:
            let chat = try self.opened()
            let own = try await chat.head.own.folders
            guard let name = own.first(where: { $0.lowercased() == call.words.lowercased() }) else {
                throw ChatClientError(.notFound, message: "the conversation is not in the folder \(ChatText.harmless(call.words))")
            }
            try await chat.setOwn(folders: own.filter { $0 != name })
            self.say("The conversation is no longer in the folder.")
        case .folders where call.named.name == "delete":
            let folder = try Self.folder(call.named.rest, in: folders)
            try await self.client.set(UserSettings(folders: folders.filter { $0 != folder }))
            self.say("The folder is deleted; its conversations remain.")
        case .folders:
            guard call.words.isEmpty else {
                throw call.isNotValid
            }
            if folders.isEmpty { self.say("No folders. /folder NAME puts the open conversation into one.", .dim) }
            let heads = await self.client.heads
            for folder in folders {
                let count = heads.count { Self.contains(folder, $0) }
                let rule = folder.filter.map { ", \(ChatText.harmless($0))" } ?? ""
                let name = ChatText.harmless(folder.name)
                self.say("\(name)  (\(count) conversation\(count == 1 ? "" : "s")\(rule))", command: "/chats \(folder.name)")
            }
        default: break
        }
    }

    /// Returns the conversations in a folder. Without a folder, returns all conversations that are
    /// not archived.
    package func chats(in folder: String) async throws -> [ChatHead] {
        let heads = await self.client.heads.filter { $0.state == .joined }
        guard !folder.isEmpty, folder != "all" else { return heads.filter { !$0.own.isArchived } }
        let found = try Self.folder(folder, in: try await self.client.settings().folders ?? [])
        return heads.filter { Self.contains(found, $0) }
    }

    private static func folder(_ name: String, in folders: [Folder]) throws(ChatClientError) -> Folder {
        guard let folder = folders.first(where: { $0.name.lowercased() == name.lowercased() }) else {
            throw ChatClientError(.notFound, message: "there is no folder \"\(ChatText.harmless(name))\"; /folders lists them")
        }
        return folder
    }

    private static func contains(_ folder: Folder, _ head: ChatHead) -> Bool {
        guard head.state == .joined else { return false }
        return switch folder.filter {
        case nil: head.own.folders.contains(folder.name)
        case "unread": head.unread > 0 || head.own.isMarkedUnread
        case "people": head.kind == .pair
        case "groups": head.kind == .group
        case "channels": head.kind == .channel
        default: false
        }
    }
}
