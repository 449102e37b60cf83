import ApusArchive
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import NIOCore

/// Writes the data of a user as a ZIP file, with bounded memory.
///
/// The content is taken from the answers to requests of the user. Therefore, it contains only data
/// that the user may see: no messages from before the user joined, and no hidden messages. The
/// export is not a snapshot: it may lack changes that occur while it runs.
struct AccountExport: Sendable {
    let session: AccountSession
    let accounts: Accounts
    let chat: any ChatRequests
    let files: BlobFiles

    /// The size at which the messages of a conversation continue in a further entry, in bytes.
    static let partBytes = 1 << 30
    /// The maximum number of blobs that one read of the storage examines.
    private static let blobsAtOnce = 2_000

    /// Writes the archive.
    ///
    /// - Parameter emit: A function that sends the next bytes of the file. It returns when the
    ///   client can receive more.
    func write(_ emit: (ByteBuffer) async throws -> Void) async throws {
        var output = ExportOutput(time: self.accounts.clock.now())
        try await output.add("README.txt", text: Self.readme, emit)
        try await output.add("settings.json", lines: [try await self.read(ChatVerbs.settings.name, [:]).value], emit)
        try await output.add("profile.json", lines: [try await self.profile()], emit)
        try await output.add("devices.json", lines: [try await self.accounts.devices(of: self.session).json], emit)
        for (verb, list) in [(ChatVerbs.contacts.name, "contacts"), (ChatVerbs.scheduled.name, "scheduled")] {
            try output.begin("\(list).jsonl")
            try await self.eachPage(verb) { answer in try await output.write(answer[list]?.arrayValue ?? [], emit) }
            try await output.end(emit)
        }
        let conversations = try await self.writeHeads(&output, emit)
        for (conversation, first) in conversations { try await self.writeMessages(of: conversation, from: first, &output, emit) }
        try await self.writeUploads(&output, emit)
        try await output.finish(emit)
    }

    // MARK: Parts

    private func profile() async throws -> JSONValue {
        let user = self.session.user
        guard let account = try await self.accounts.database.read({ try $0.accounts([user]).first }) else { throw ChatError.noSession }
        let answer = try await self.read(ChatVerbs.users.name, ["names": [.string(account.name.description)]])
        var profile = answer["users"]?.arrayValue?.first?.objectValue ?? [:]
        profile["about"] = account.about.isEmpty ? nil : .string(account.about)
        return .object(profile)
    }

    /// Writes the conversations. Returns those with visible events, each with the first visible
    /// `seq`.
    private func writeHeads(
        _ output: inout ExportOutput, _ emit: (ByteBuffer) async throws -> Void
    ) async throws -> [(String, Int64)] {
        var conversations: [(String, Int64)] = []
        try output.begin("conversations.jsonl")
        var page: JSONValue?
        repeat {
            let answer = try await self.read(ChatVerbs.sync.name, page.map { ["page": $0] } ?? [:])
            let heads = answer["heads"]?.arrayValue ?? []
            for case .object(let head) in heads {
                guard let id = head["conv"]?.stringValue, head["seq"]?.intValue ?? 0 > 0 else { continue }
                conversations.append((id, Int64(head["min_seq"]?.intValue ?? 1)))
            }
            try await output.write(heads, emit)
            page = answer["page"]
        } while page != nil
        try await output.end(emit)
        return conversations
    }

    private func writeMessages(
        of conversation: String, from first: Int64, _ output: inout ExportOutput, _ emit: (ByteBuffer) async throws -> Void
    ) async throws {
        var from = first
        var part = 0
        while true {
            let answer: JSONObject
            do throws(ChatError) {
                answer = try await self.read(ChatVerbs.history.name, ["conv": .string(conversation), "from": .integer(from)])
            } catch {
                // An invitation has no log, and a conversation may have been left during the
                // export.
                guard error.code == .notFound else { throw error }
                break
            }
            let events = answer["events"]?.arrayValue ?? []
            guard let last = events.last?.objectValue?["seq"]?.intValue, last >= from else { break }
            if part == 0 || output.entryBytes >= Self.partBytes {
                if part > 0 { try await output.end(emit) }
                part += 1
                try output.begin("messages/\(conversation)\(part == 1 ? "" : "-\(part)").jsonl")
            }
            try await output.write(events.filter { $0.objectValue?["kind"]?.stringValue != EventKind.hidden.rawValue }, emit)
            from = Int64(last) + 1
            if from > answer["seq"]?.intValue ?? 0 { break }
        }
        if part > 0 { try await output.end(emit) }
    }

    private func writeUploads(_ output: inout ExportOutput, _ emit: (ByteBuffer) async throws -> Void) async throws {
        let user = self.session.user
        var cursor: Int64? = 0
        while let after = cursor {
            let page = try await self.accounts.database.read { try $0.uploads(of: user, after: after, limit: Self.blobsAtOnce) }
            for blob in page.blobs { try await self.write(blob, &output, emit) }
            cursor = page.next
        }
    }

    private func write(_ blob: BlobRow, _ output: inout ExportOutput, _ emit: (ByteBuffer) async throws -> Void) async throws {
        guard blob.size > 0 else { return }
        let bytes: BlobBytes
        do {
            bytes = try await self.files.store.bytes(of: blob.id, 0...blob.size - 1)
        } catch is StorageError {
            return  // A blob that was removed during the export is omitted.
        }
        try output.begin("uploads/\(blob.id.rawValue).\(MediaType.fileExtension(of: blob.type))", size: blob.size, at: blob.createdAt)
        var missing = blob.size
        for try await piece in bytes {
            try await output.write(piece, emit)
            missing -= Int64(piece.readableBytes)
        }
        guard missing == 0 else {
            throw StorageError(.corrupt, message: "the file of blob \(blob.id) is shorter than its recorded size")
        }
        try await output.end(emit)
    }

    // MARK: Requests

    private func read(_ verb: String, _ request: JSONObject) async throws(ChatError) -> JSONObject {
        try await self.chat.read(verb, .object(request), of: self.session).objectValue ?? [:]
    }

    private func eachPage(_ verb: String, _ body: (JSONObject) async throws -> Void) async throws {
        var page: JSONValue?
        repeat {
            let answer = try await self.read(verb, page.map { ["page": $0] } ?? [:])
            try await body(answer)
            page = answer["page"]
        } while page != nil
    }

    private static let readme = """
        The data of an account, in UTF-8. Lines of .jsonl files are JSON objects, as docs/chat-wire.md of Apus describes them.

        profile.json          the account as others see it
        settings.json         the settings
        devices.json          the devices with a session
        contacts.jsonl        the contacts, requests and blocked users
        scheduled.jsonl       messages that are to be sent
        conversations.jsonl   the conversations, with the role and the read position in each
        messages/ID.jsonl     the visible messages and changes of a conversation; a long one continues in ID-2.jsonl
        uploads/HASH.EXT      the files that the account has uploaded, by their SHA-256

        """
}

extension JSONObject {
    fileprivate var value: JSONValue { .object(self) }
}
