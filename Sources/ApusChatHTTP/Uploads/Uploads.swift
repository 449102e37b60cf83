import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Manages unfinished uploads, which survive a restart, and their conversion to blobs.
package final class Uploads: Sendable {
    let configuration: UploadsConfiguration
    let accounts: Accounts
    let files: BlobFiles
    private let folder: String
    let parts: NIOLockedValueBox<[String: UploadPart]>
    /// The lengths of the uploads that are being created, by their users. Two requests at the same
    /// time could otherwise both use the rest of a quota. Locked before `parts`.
    private let creating = NIOLockedValueBox<[UserKey: [Int64]]>([:])
    /// The work for complete uploads, by their ids.
    let finishing = NIOLockedValueBox(Finishing())
    private let byUser: NIOLockedValueBox<ConnectionQuota>
    private let byAddress: NIOLockedValueBox<ConnectionQuota>

    /// - Parameter folder: The data folder.
    package init(folder: String, accounts: Accounts, files: BlobFiles, configuration: UploadsConfiguration = UploadsConfiguration()) throws
    {
        self.configuration = configuration
        self.accounts = accounts
        self.files = files
        self.folder = folder + "/uploads"
        try DurableFile.makeFolder(self.folder)
        let (user, address, all) = configuration.transfers
        self.byUser = .init(ConnectionQuota(maximum: all, maximumPerAddress: user))
        self.byAddress = .init(ConnectionQuota(maximum: all, maximumPerAddress: address))
        self.parts = .init(try Self.found(in: self.folder))
    }

    /// Opens the uploads of earlier runs, and removes files that belong to no upload.
    private static func found(in folder: String) throws -> [String: UploadPart] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        var parts: [String: UploadPart] = [:]
        for name in names where name.hasSuffix(".info") {
            let id = String(name.dropLast(5))
            parts[id] = UploadPart(existing: id, in: folder)
        }
        for name in names where name.split(separator: ".").first.map({ parts[String($0)] == nil }) ?? true {
            DurableFile.remove(folder + "/" + name)
        }
        return parts
    }

    /// Creates an upload.
    func create(length: Int64, for session: AccountSession, from client: ClientOrigin) async throws -> UploadPart {
        guard length >= 1 else { throw ChatError(.badRequest, message: "`Upload-Length` must be at least 1.") }
        guard length <= self.configuration.maximumBytes else {
            throw ChatError(.tooLarge, message: "`Upload-Length` must be at most \(self.configuration.maximumBytes) bytes.")
        }
        try self.accounts.charge(.upload, to: client.keys + [.account(session.user)])
        let used = try await self.accounts.database.read { try $0.uploadedBytes(of: session.user) }
        try self.reserve(length, of: session.user, used: used)
        let id = Secrets.hex(Secrets.bytes(16))
        let expiresAt = self.accounts.clock.now() + self.configuration.lifetime
        let folder = self.folder
        let part: UploadPart
        do {
            part = try await self.files.threads.runIfActive {
                try UploadPart(id: id, user: session.user, length: length, expiresAt: expiresAt, in: folder)
            }
        } catch {
            self.created(nil, length, of: session.user)
            throw error
        }
        self.created(part, length, of: session.user)
        return part
    }

    /// Reserves the place and the bytes of a new upload until `created` is called.
    private func reserve(_ length: Int64, of user: UserKey, used: Int64) throws(ChatError) {
        let refusal = self.creating.withLockedValue { creating -> ChatError? in
            let unfinished = self.parts.withLockedValue { parts in
                parts.values.compactMap { $0.user == user && $0.blob == nil ? $0.length : nil }
            }
            let lengths = unfinished + creating[user, default: []]
            guard lengths.count < self.configuration.unfinishedOfUser else {
                return ChatError(
                    .limit,
                    message: "An account has at most \(self.configuration.unfinishedOfUser) unfinished uploads. Complete or remove one.")
            }
            let reserved = lengths.reduce(used, +)
            guard length <= self.configuration.quota - min(reserved, self.configuration.quota) else {
                return ChatError(.limit, message: "The upload exceeds your quota of \(self.configuration.quota) bytes for all uploads.")
            }
            creating[user, default: []].append(length)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Replaces a reservation with its upload; nil if the upload could not be created.
    private func created(_ part: UploadPart?, _ length: Int64, of user: UserKey) {
        self.creating.withLockedValue { creating in
            var lengths = creating[user, default: []]
            if let index = lengths.firstIndex(of: length) { lengths.remove(at: index) }
            creating[user] = lengths.isEmpty ? nil : lengths
            if let part { self.parts.withLockedValue { $0[part.id] = part } }
        }
    }

    /// Returns an upload of a user.
    ///
    /// - Throws: `not_found` if it does not exist or belongs to another user.
    func part(_ id: String, of session: AccountSession) throws(ChatError) -> UploadPart {
        guard let part = self.parts.withLockedValue({ $0[id] }), part.user == session.user else {
            throw ChatError(.notFound, message: "You have no upload with this id, or it has expired. Create a new one.")
        }
        return part
    }

    /// Removes an unfinished upload, which returns its bytes to the quota of the user.
    func remove(_ part: UploadPart) async throws {
        _ = self.parts.withLockedValue { $0.removeValue(forKey: part.id) }
        try await self.files.threads.runIfActive { part.remove() }
    }

    /// Counts a running transfer.
    ///
    /// - Throws: `too_many` if the user, the address or the server has the maximum number of
    ///   transfers.
    func beginTransfer(_ session: AccountSession, _ client: ClientOrigin) throws(ChatError) {
        let refusal = ChatError(
            .tooMany, message: "Too many uploads are running for this account, this address or this server. Wait until one has ended.",
            retryAfter: 2_000)
        guard self.byUser.withLockedValue({ $0.opened(from: String(session.user.rawValue)) }) == nil else { throw refusal }
        guard self.byAddress.withLockedValue({ $0.opened(from: client.text) }) == nil else {
            self.byUser.withLockedValue { $0.closed(from: String(session.user.rawValue)) }
            throw refusal
        }
    }

    func endTransfer(_ session: AccountSession, _ client: ClientOrigin) {
        self.byUser.withLockedValue { $0.closed(from: String(session.user.rawValue)) }
        self.byAddress.withLockedValue { $0.closed(from: client.text) }
    }
}
