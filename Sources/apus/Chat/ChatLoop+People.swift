import ApusChatClient
import ApusChatProtocol

/// Finds users and creates conversations.
extension ChatLoop {
    func users(_ query: String?, after page: String?) async throws {
        let found = try await self.client.users(matching: query, after: page)
        for user in found.users {
            let state = user.online ? self.output.styled(" online", .green) : ""
            self.output.line("\(user.name)  \(ChatOutput.harmless(user.display))\(state)")
        }
        if found.users.isEmpty { self.output.line(self.output.styled("No users found.", .dim)) }
        self.morePeople = found.next.map { (query, $0) }
        if found.next != nil { self.output.line(self.output.styled("/more shows more users.", .dim)) }
    }

    func new(_ title: String, _ names: [String]) async throws {
        var members: [UserID] = []
        for name in names {
            let name = name.hasPrefix("@") ? String(name.dropFirst()) : name
            let found = try await self.client.users(matching: name).users
            guard let user = found.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw ChatClientError(.notFound, message: "there is no user named \(name)")
            }
            members.append(user.id)
        }
        let conversation = try await self.client.createGroup(title: title, members: members)
        self.current = conversation
        self.currentName = ChatOutput.harmless(title)
        self.shown = 0
        self.shownThrough = 0
        self.lastReadNumber = nil
        self.output.line(self.output.styled("— \(self.currentName) —", .bold))
    }

    /// Returns the conversation with the user of exactly this name.
    /// - Throws: An error that lists users with similar names if there is no such user.
    func conversation(with name: String) async throws -> ChatConversation {
        let name = name.hasPrefix("@") ? String(name.dropFirst()) : name
        do throws(ChatClientError) {
            return try await self.client.conversation(with: name)
        } catch {
            guard error.code == .notFound, let found = try? await self.client.users(matching: name), !found.users.isEmpty else {
                throw error
            }
            let names = found.users.prefix(5).map { "\($0.name) (\(ChatOutput.harmless($0.display)))" }
            let rest = found.users.count > names.count || found.next != nil ? ", …" : ""
            throw ChatClientError(.notFound, message: "\(error.message); similar names: \(names.joined(separator: ", "))\(rest)")
        }
    }
}
