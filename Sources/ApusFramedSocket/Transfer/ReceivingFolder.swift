import ApusEventLoop
public import ApusFramedProtocol
import Crypto
import NIOConcurrencyHelpers
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A folder that stores received files, and keeps the unfinished ones for resumption.
///
/// The folder is opened once. Every name is opened below its handle, one component at a time and
/// without following links, so that neither a name nor a link leads out of it. An unfinished file
/// is stored in the folder as `.apus-….part`. Its transfer can resume even after a crash of either
/// side. An existing file is never overwritten: the new file receives a number, as in
/// `photo (2).jpg`.
public final class ReceivingFolder: Sendable {
    let root: FileDescriptor
    let path: String
    /// The uploads in progress and their quotas.
    let leases: NIOLockedValueBox<FolderLeases>
    let limits: TransferLimits

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: The path of an existing folder.
    ///   - limits: The limits on the files.
    /// - Throws: `TransferError.Code.storage` when the folder cannot be opened.
    public init(path: String, limits: TransferLimits = .init()) throws(TransferError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw FileDescriptor.error("the folder cannot be opened", .storage) }
        self.root = FileDescriptor(number)
        self.path = path
        self.limits = limits
        self.leases = NIOLockedValueBox(FolderLeases(limits: limits))
    }

    // MARK: Unfinished files

    /// Opens the unfinished file of an upload, or creates it. Existing bytes are not hashed yet.
    ///
    /// - Throws: `TransferError.Code.busy` when another process has locked or finished it;
    ///   `storage` when it cannot be opened or is not a regular file.
    func openPart(_ offer: TransferOffer) throws(TransferError) -> PartFile {
        let number = openat(self.root.number, offer.partName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard number >= 0 else { throw FileDescriptor.error("the unfinished file cannot be opened", .storage) }
        let descriptor = FileDescriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw TransferError(.busy, message: "another process is receiving this upload") }
        let part = PartFile(descriptor, name: offer.partName, in: self.root)
        let status = try descriptor.status()
        guard status.isFile else { throw TransferError(.storage, message: "the unfinished file is not a regular file") }
        // Before the lock was acquired, another process may have finished or deleted the file.
        guard self.root.status(of: offer.partName)?.inode == status.inode else {
            throw TransferError(.busy, message: "another process has finished or deleted this upload; send it again")
        }
        if status.links > 1 {
            // A crash happened after the file received its final name and before this name was
            // removed. The finished file must not be written to.
            guard unlinkat(self.root.number, offer.partName, 0) == 0 else {
                throw FileDescriptor.error("the name of the finished upload cannot be removed", .storage)
            }
            return try self.openPart(offer)
        }
        // Discard the partial file if it is longer than announced.
        if status.size > offer.size { try part.empty() }
        return part
    }

    /// Compares the unfinished file with the sender's hash, and empties it when they differ.
    func compare(_ part: PartFile, with shown: PrefixProof) throws(TransferError) -> Bool {
        do throws(TransferError) {
            try part.load()
        } catch {
            // After a failed sync, the next one may succeed without writing the data. The file can
            // no longer be trusted.
            self.discard(part)
            throw error
        }
        guard part.size != shown.bytes || part.hash != shown.sha256 else { return true }
        try part.empty()
        return false
    }

    /// Removes an unfinished file that is empty.
    func discardIfEmpty(_ part: PartFile) {
        guard part.finishedName == nil, let status = try? part.status(), status.size == 0, status.links == 1 else { return }
        unlinkat(self.root.number, part.name, 0)
    }

    /// Admits an upload and grants its lease. The caller must release the lease.
    ///
    /// - Parameter isTaken: Whether the name exists. The upload then reserves no space until the
    ///   sender has proved that its file is a different one.
    /// - Returns: The status of the unfinished file, if one exists.
    @discardableResult
    func admit(
        _ offer: TransferOffer, session: UInt64, isTaken: Bool, _ batch: inout DiskBatch
    ) throws(TransferError) -> FileDescriptor.Status? {
        let unfinished = self.root.status(of: offer.partName)
        // The answer must not disclose the size of a complete file that exists, so the check does
        // not use that size.
        let existing = isTaken ? offer.size : unfinished?.size ?? 0
        try self.withLeases(&batch) { leases, free, stored throws(TransferError) in
            try leases.admit(offer, session: session, existing: existing, stored: stored, free: free)
        }
        return unfinished
    }

    /// Reserves space for a file whose name exists, but with other content.
    func reserve(_ offer: TransferOffer, _ batch: inout DiskBatch) throws(TransferError) {
        try self.withLeases(&batch) { leases, free, stored throws(TransferError) in
            try leases.reserve(offer, stored: stored, free: free)
        }
    }

    private func withLeases(
        _ batch: inout DiskBatch, _ body: (inout FolderLeases, _ free: Int, _ stored: Int) throws(TransferError) -> Void
    ) throws(TransferError) {
        let (free, stored) = try batch.room(of: self)
        // `withLockedValue` does not propagate typed errors.
        let result: Result<Void, TransferError> = self.leases.withLockedValue { leases in
            do throws(TransferError) {
                return .success(try body(&leases, free, stored))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Deletes unfinished files that were not written to for `TransferLimits.expiry`, and empty
    /// ones.
    ///
    /// - Parameter now: Seconds since 1970.
    func removeAbandoned(now: Double) -> Int {
        var parts: [(name: String, modified: Int64, isEmpty: Bool)] = []
        for name in self.names() where name.hasPrefix(SafeFileName.partPrefix) && name.hasSuffix(TransferOffer.partSuffix) {
            guard let status = self.root.status(of: name) else { continue }
            parts.append((name, status.modified, status.size == 0))
        }
        let times = parts.map {
            (name: $0.name, idle: Duration.seconds(now - Double($0.modified) / 1e9), isEmpty: $0.isEmpty)
        }
        let expired = self.leases.withLockedValue { $0.expired(times) }
        return expired.count { name in
            // Another process may have locked the file.
            let number = openat(self.root.number, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard number >= 0 else { return false }
            let descriptor = FileDescriptor(number)
            guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0, let status = try? descriptor.status() else { return false }
            // Another process may have changed or finished the file since the scan.
            guard self.root.status(of: name) == status, parts.contains(where: { $0.name == name && $0.modified == status.modified }) else {
                return false
            }
            return unlinkat(self.root.number, name, 0) == 0
        }
    }

    /// Returns the names of the entries of the folder.
    private func names() -> [String] {
        // Use a separate descriptor, because the directory stream moves its position and closes it.
        let number = openat(self.root.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return [] }
        guard let stream = fdopendir(number) else {
            close(number)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) { names.append(FileDescriptor.name(of: entry)) }
        return names
    }

    func discard(_ part: PartFile) {
        guard part.finishedName == nil else { return }
        unlinkat(self.root.number, part.name, 0)
    }

    /// Returns the number of free bytes of the disk.
    func freeBytes() throws(TransferError) -> Int {
        var buffer = statvfs()
        guard fstatvfs(self.root.number, &buffer) == 0 else { throw FileDescriptor.error("the free disk space cannot be read", .storage) }
        let (bytes, overflow) = UInt64(buffer.f_bavail).multipliedReportingOverflow(by: UInt64(buffer.f_frsize))
        return overflow ? .max : Int(clamping: bytes)
    }

    // MARK: Finished files

    /// Gives a synced file its name. Returns the name, which may be numbered.
    ///
    /// The folders are synced at the end of the batch (``OpenFolders/sync()``); the file is not
    /// complete before that.
    func publish(
        _ part: PartFile, as offer: TransferOffer, keepsAttributes: Bool, _ open: inout OpenFolders
    ) throws(TransferError) -> String {
        // An existing file keeps its permissions and its times.
        if let name = part.finishedName { return name }
        if offer.isFolder { return try self.publishFolder(part, as: offer, &open) }
        let folders = offer.name.components.dropLast()
        guard let last = offer.name.components.last else { throw TransferError(.nameRefused, message: "the file name is empty") }
        let folder = try open.open(folders[...], below: self.root)
        if keepsAttributes { try part.setAttributes(of: offer) }
        let name = try Self.link(last) { linkat(self.root.number, part.name, folder.number, $0, 0) }
        unlinkat(self.root.number, part.name, 0)
        return (folders + [name]).joined(separator: "/")
    }

    /// Links the file to `last`, or to a numbered name if `last` exists. Unlike a rename, a link
    /// does not overwrite a file.
    static func link(_ last: String, _ link: (String) -> CInt) throws(TransferError) -> String {
        var name = last
        for attempt in 2...1000 {
            if link(name) == 0 { return name }
            guard errno == EEXIST else { throw FileDescriptor.error("the file cannot be renamed to its final name", .storage) }
            name = Self.numbered(last, attempt)
        }
        throw TransferError(.storage, message: "the file cannot be renamed: 999 files of that name exist")
    }

    private func publishFolder(_ part: PartFile, as offer: TransferOffer, _ open: inout OpenFolders) throws(TransferError) -> String {
        _ = try open.open(offer.name.components[...], below: self.root)
        unlinkat(self.root.number, part.name, 0)
        return offer.name.description
    }

    /// Returns whether the offered name exists and the upload has no unfinished file.
    func isTaken(_ offer: TransferOffer) -> Bool {
        guard !offer.isFolder, let last = offer.name.components.last, let folder = self.folder(of: offer), folder.status(of: last) != nil
        else { return false }
        // A crash between linking the final name and removing the name of the unfinished file
        // leaves both.
        return self.root.status(of: offer.partName).map { $0.links > 1 } ?? true
    }

    /// Returns the folder of the offered name, if it exists.
    private func folder(of offer: TransferOffer) -> FileDescriptor? {
        var folder = self.root
        for component in offer.name.components.dropLast() {
            let number = openat(folder.number, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { return nil }
            folder = FileDescriptor(number)
        }
        return folder
    }

    /// The maximum number of files with the same name and size that are compared.
    private static let maximumCompared = 8

    /// Returns a finished file with the offered name, or a numbered form of it, the offered size,
    /// and the sender's hash.
    ///
    /// Reading it leaves the access time unchanged where the system supports that.
    func openFinished(_ offer: TransferOffer, sha256: String) throws(TransferError) -> PartFile? {
        guard !offer.isFolder, let last = offer.name.components.last, let folder = self.folder(of: offer) else { return nil }
        var names: [String] = []
        for attempt in 1..<1000 {
            let name = attempt == 1 ? last : Self.numbered(last, attempt)
            guard let status = folder.status(of: name) else { break }
            if status.isFile, status.size == offer.size { names.append(name) }
        }
        // Compare the newest file first, which is the most likely match.
        for name in names.suffix(Self.maximumCompared).reversed() {
            guard let descriptor = FileDescriptor(untouched: name, in: folder) else { continue }  // not readable
            let part = PartFile(
                descriptor, name: name, in: folder, finishedName: (offer.name.components.dropLast() + [name]).joined(separator: "/"))
            guard try part.isWhole(offer.size), part.hash == sha256 else { continue }
            if let other = self.root.status(of: offer.partName), other.inode == (try part.status()).inode {
                unlinkat(self.root.number, offer.partName, 0)  // the other name, left by a crash
            }
            return part
        }
        return nil
    }

    static func openFolder(_ name: String, below parent: FileDescriptor) throws(TransferError) -> FileDescriptor {
        if mkdirat(parent.number, name, 0o777) != 0, errno != EEXIST {
            throw FileDescriptor.error("a folder of the file name cannot be created", .storage)
        }
        let number = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw FileDescriptor.error("a folder of the file name cannot be opened, or is a symbolic link", .storage) }
        return FileDescriptor(number)
    }

    /// Returns a name such as `photo (2).jpg`, truncated to the maximum length.
    static func numbered(_ name: String, _ number: Int) -> String {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let suffix = " (\(number))" + String(name[dot...])
        var stem = String(name[..<dot])
        while !stem.isEmpty, stem.utf8.count + suffix.utf8.count > SafeFileName.maximumComponentBytes { stem.removeLast() }
        return stem + suffix
    }
}

/// An unfinished file, which is appended to and hashed in order.
///
/// Its methods block. The transfer makes one call at a time, except for syncs. Closing the
/// descriptor releases the lock.
final class PartFile: Sendable {
    let name: String
    /// The name of an existing finished file, relative to the root; `nil` for an unfinished file. A
    /// finished file is only hashed, to compare it with the offer, and is never written.
    let finishedName: String?
    private let descriptor: FileDescriptor
    private let content = NIOLockedValueBox(Content())
    /// The folder that contains the name.
    private let folder: FileDescriptor
    private let syncs = NIOLockedValueBox(Syncs())

    private struct Content: Sendable {
        var hasher = SHA256()
        var size = 0
        /// The error of a failed write. Later chunks must not be written.
        var writeFailure: TransferError?
    }

    /// The state of the syncs, separate from the content, so that a sync does not delay the next
    /// write.
    private struct Syncs: Sendable {
        var failure: TransferError?
        var nameIsDurable = false
    }

    init(_ descriptor: FileDescriptor, name: String, in folder: FileDescriptor, finishedName: String? = nil) {
        self.descriptor = descriptor
        self.name = name
        self.folder = folder
        self.finishedName = finishedName
    }

    /// Hashes a finished file. Returns `false` when its size has changed.
    func isWhole(_ length: Int) throws(TransferError) -> Bool {
        let status = try self.descriptor.status()
        guard status.isFile, status.size == length else { return false }
        try self.load()
        return self.size == length
    }

    /// The number of bytes that were written and hashed.
    var size: Int { self.content.withLockedValue { $0.size } }

    func status() throws(TransferError) -> FileDescriptor.Status { try self.descriptor.status() }

    /// Releases the lock of the file.
    func unlock() {
        flock(self.descriptor.number, LOCK_UN)
    }

    /// The hash of all bytes so far.
    var hash: String { self.content.withLockedValue { $0.hasher }.finalize().hexadecimal }

    /// Syncs and hashes the existing bytes.
    ///
    /// After a power loss a file can have its full length but contain zeros; the hash detects that.
    func load() throws(TransferError) {
        let size = try self.descriptor.status().size
        guard size > 0 else { return }
        try self.sync()
        var buffer = [UInt8](repeating: 0, count: TransferChunk.maximumBytes)
        try self.content.withLock { content throws(TransferError) in
            while content.size < size {
                let offset = content.size
                let count = buffer.withUnsafeMutableBytes { memory in
                    FileDescriptor.retrying { pread(self.descriptor.number, memory.baseAddress, memory.count, off_t(offset)) }
                }
                let number = errno
                guard count >= 0 else { throw FileDescriptor.error("the existing file cannot be read", .storage, errno: number) }
                guard count > 0 else {
                    throw TransferError(.storage, message: "the existing file became shorter while it was read")
                }
                buffer.withUnsafeBytes { content.hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                content.size += count
            }
        }
    }

    func empty() throws(TransferError) {
        guard self.finishedName == nil else { throw TransferError(.storage, message: "a finished file must not be emptied") }
        guard ftruncate(self.descriptor.number, 0) == 0 else {
            throw FileDescriptor.error("the unfinished file cannot be emptied", .storage)
        }
        self.content.withLockedValue { $0 = Content() }
    }

    /// Appends the pieces to the file.
    func append(_ pieces: [ByteBuffer]) throws(TransferError) {
        guard self.finishedName == nil else { throw TransferError(.storage, message: "a finished file must not be written to") }
        try self.content.withLock { content throws(TransferError) in
            if let failure = content.writeFailure { throw failure }
            for piece in pieces {
                if let failure = self.write(piece, at: content.size) {
                    content.writeFailure = failure
                    throw failure
                }
                piece.withUnsafeReadableBytes { content.hasher.update(bufferPointer: $0) }
                content.size += piece.readableBytes
            }
        }
    }

    private func write(_ piece: ByteBuffer, at offset: Int) -> TransferError? {
        piece.withUnsafeReadableBytes { bytes in
            var written = 0
            while written < bytes.count, let start = bytes.baseAddress {
                let offset = off_t(offset + written)
                let result = FileDescriptor.retrying { pwrite(self.descriptor.number, start + written, bytes.count - written, offset) }
                guard result > 0 else {
                    return FileDescriptor.error("the file cannot be written", .storage, errno: result < 0 ? errno : ENOSPC)
                }
                written += result
            }
            return nil
        }
    }

    /// Makes the written bytes and the name durable. May run concurrently with itself and other
    /// methods.
    ///
    /// Syncs are serialized, and after a failure all later ones fail: the system reports a write
    /// error only once.
    func sync() throws(TransferError) {
        try self.syncBytes()
        let failure = self.syncs.withLockedValue { syncs -> TransferError? in
            guard !syncs.nameIsDurable else { return nil }
            // After a power failure, the file can be found only if the folder that contains its
            // name was synced too. Sync the folder only once, because the name does not change.
            guard fsync(self.folder.number) == 0 else { return FileDescriptor.error("the folder cannot be synced", .storage) }
            syncs.nameIsDurable = true
            return nil
        }
        if let failure { throw failure }
    }

    /// Syncs the bytes without the name, for a file that is renamed afterwards.
    func syncBytes() throws(TransferError) {
        let failure = self.syncs.withLockedValue { syncs -> TransferError? in
            guard syncs.failure == nil else { return syncs.failure }
            #if canImport(Darwin)
                let result = fcntl(self.descriptor.number, F_FULLFSYNC)
            #else
                let result = fdatasync(self.descriptor.number)
            #endif
            if result != 0 { syncs.failure = FileDescriptor.error("the file cannot be synced", .storage) }
            return syncs.failure
        }
        if let failure { throw failure }
    }

    func setAttributes(of offer: TransferOffer) throws(TransferError) {
        if let permissions = offer.permissions, fchmod(self.descriptor.number, mode_t(permissions)) != 0 {
            throw FileDescriptor.error("the permissions cannot be set", .storage)
        }
        if let modified = offer.modified { try self.descriptor.setTime(modified) }
        guard fsync(self.descriptor.number) == 0 else { throw FileDescriptor.error("the file cannot be synced", .storage) }
    }
}
