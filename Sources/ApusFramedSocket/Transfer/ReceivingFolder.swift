public import ApusFramedProtocol
import Crypto
public import Foundation
import NIOConcurrencyHelpers
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A folder that takes files, and keeps what has come of those that are not finished.
///
/// It is opened once; every name is opened below its handle, one component at a time and through no link, so that no name and no link of anybody
/// leads out of it. An unfinished file lies in the folder itself as `.apus-….part` and goes on where it stopped, also after a crash of either side.
/// A name that is taken is not written over: the file gets a number, `photo (2).jpg`.
public final class ReceivingFolder: Sendable {
    let root: FileDescriptor
    private let path: String
    /// Who writes what.
    let leases: NIOLockedValueBox<FolderLeases>
    let limits: TransferLimits

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: An existing folder.
    ///   - limits: How much it takes.
    /// - Throws: ``TransferError/Code/storage`` when it cannot be opened.
    public init(path: String, limits: TransferLimits = .init()) throws(TransferError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw FileDescriptor.error("the folder cannot be opened", .storage) }
        self.root = FileDescriptor(number)
        self.path = path
        self.limits = limits
        self.leases = NIOLockedValueBox(FolderLeases(limits: limits))
    }

    // MARK: Unfinished files

    /// Opens what there is of an upload, or begins it. What is there is not hashed yet.
    ///
    /// - Throws: ``TransferError/Code/busy`` when another process has it open.
    func openPart(_ offer: TransferOffer) throws(TransferError) -> PartFile {
        let number = openat(self.root.number, offer.partName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard number >= 0 else { throw FileDescriptor.error("the unfinished file cannot be opened", .storage) }
        let descriptor = FileDescriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw TransferError(.busy, message: "another process is at this upload") }
        let part = PartFile(descriptor, name: offer.partName, in: self.root)
        let status = try descriptor.status()
        guard status.isFile else { throw TransferError(.storage, message: "the unfinished file is none") }
        // Between the opening and the lock another process may have finished it, or thrown it away.
        guard self.root.status(of: offer.partName)?.inode == status.inode else {
            throw TransferError(.busy, message: "another process was at this upload")
        }
        if status.links > 1 {
            // A crash came between the two names of a finished file. What stands under the other one is not to be written to.
            guard unlinkat(self.root.number, offer.partName, 0) == 0 else {
                throw FileDescriptor.error("the unfinished file is a finished one", .storage)
            }
            return try self.openPart(offer)
        }
        // More than the file can have is none of it.
        if status.size > offer.size { try part.empty() }
        return part
    }

    /// Compares what there is of an upload with what the sender has shown of its file, and empties it when it is something else.
    func compare(_ part: PartFile, with shown: ShownBeginning) throws(TransferError) -> Bool {
        do throws(TransferError) {
            try part.load()
        } catch {
            // A system that failed to sync a file once says the next time that all is well: what is there cannot be believed any more.
            self.discard(part)
            throw error
        }
        guard part.size != shown.bytes || part.hash != shown.sha256 else { return true }
        try part.empty()
        return false
    }

    /// Removes an unfinished file in which there is nothing.
    func discardIfEmpty(_ part: PartFile) {
        guard part.finishedName == nil, let status = try? part.status(), status.size == 0, status.links == 1 else { return }
        unlinkat(self.root.number, part.name, 0)
    }

    /// Lets an upload in, or says why not; the ledger's `released` must follow.
    ///
    /// - Parameter isTaken: Whether its name is: then it needs no room before the sender has shown that it has another file.
    /// - Returns: What there is of it.
    @discardableResult
    func admit(
        _ offer: TransferOffer, session: UInt64, isTaken: Bool, _ visit: inout DiskVisit
    ) throws(TransferError) -> FileDescriptor.Status? {
        let unfinished = self.root.status(of: offer.partName)
        // Of any size that is offered: an answer that depends on the size of the file that is there would tell it.
        let existing = isTaken ? offer.size : unfinished?.size ?? 0
        try self.inLedger(&visit) { leases, free, stored throws(TransferError) in
            try leases.admit(offer, session: session, existing: existing, stored: stored, free: free)
        }
        return unfinished
    }

    /// Finds room for a file whose name was taken, and which is not there.
    func reserve(_ offer: TransferOffer, _ visit: inout DiskVisit) throws(TransferError) {
        try self.inLedger(&visit) { leases, free, stored throws(TransferError) in
            try leases.reserve(offer, stored: stored, free: free)
        }
    }

    private func inLedger(
        _ visit: inout DiskVisit, _ body: (inout FolderLeases, _ free: Int, _ stored: Int) throws(TransferError) -> Void
    ) throws(TransferError) {
        let (free, stored) = try visit.room(of: self)
        // `withLockedValue` passes no typed errors on.
        let result: Result<Void, TransferError> = self.leases.withLockedValue { leases in
            do throws(TransferError) {
                return .success(try body(&leases, free, stored))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Takes unfinished files away that nobody has written to for ``TransferLimits/expiry``, and those in which there is nothing.
    ///
    /// Blocks while it looks through the folder. Call it when you start, and now and then.
    ///
    /// - Parameter now: The time.
    /// - Returns: How many there were.
    @discardableResult
    public func removeAbandoned(at now: Date = Date()) -> Int {
        var parts: [(name: String, modified: Int64, isEmpty: Bool)] = []
        for name in self.names() where name.hasPrefix(SafeFileName.partPrefix) && name.hasSuffix(TransferOffer.partSuffix) {
            guard let status = self.root.status(of: name) else { continue }
            parts.append((name, status.modified, status.size == 0))
        }
        let times = parts.map {
            (name: $0.name, idle: Duration.seconds(now.timeIntervalSince1970 - Double($0.modified) / 1e9), isEmpty: $0.isEmpty)
        }
        let expired = self.leases.withLockedValue { $0.expired(times) }
        return expired.count { name in
            // Another process may be at it.
            let number = openat(self.root.number, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard number >= 0 else { return false }
            let descriptor = FileDescriptor(number)
            guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0, let status = try? descriptor.status() else { return false }
            // Or was at it, or has finished it, since we looked.
            guard self.root.status(of: name) == status, parts.contains(where: { $0.name == name && $0.modified == status.modified }) else {
                return false
            }
            return unlinkat(self.root.number, name, 0) == 0
        }
    }

    /// What is in the folder itself.
    private func names() -> [String] {
        // A descriptor of its own: the stream closes it, and reads on from where it stands.
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

    /// The bytes of all files in the folder and below, links not followed.
    func storedBytes() -> Int {
        guard let files = FileManager.default.enumerator(atPath: self.path) else { return 0 }
        var sum = 0
        while files.nextObject() != nil {
            guard let size = files.fileAttributes?[.size] as? NSNumber, files.fileAttributes?[.type] as? FileAttributeType == .typeRegular
            else {
                continue
            }
            sum = sum.addingReportingOverflow(size.intValue).overflow ? .max : sum + size.intValue
        }
        return sum
    }

    func discard(_ part: PartFile) {
        guard part.finishedName == nil else { return }
        unlinkat(self.root.number, part.name, 0)
    }

    /// Free bytes of the disk.
    func freeBytes() throws(TransferError) -> Int {
        var buffer = statvfs()
        guard fstatvfs(self.root.number, &buffer) == 0 else { throw FileDescriptor.error("the disk cannot be looked at", .storage) }
        let (bytes, overflow) = UInt64(buffer.f_bavail).multipliedReportingOverflow(by: UInt64(buffer.f_frsize))
        return overflow ? .max : Int(clamping: bytes)
    }

    // MARK: Finished files

    /// Gives a synced file its name. Answers the name it got.
    ///
    /// The folders are synced at the end of the visit (``OpenFolders/sync()``), and the file is not complete before.
    func publish(
        _ part: PartFile, as offer: TransferOffer, keepsAttributes: Bool, _ open: inout OpenFolders
    ) throws(TransferError) -> String {
        // What was there already keeps its permissions and its times.
        if let name = part.finishedName { return name }
        if offer.isFolder { return try self.publishFolder(part, as: offer, &open) }
        let folders = offer.name.components.dropLast()
        guard let last = offer.name.components.last else { throw TransferError(.nameRefused, message: "a file without a name") }
        let folder = try open.open(folders[...], below: self.root)
        if keepsAttributes { try part.setAttributes(of: offer) }
        let name = try Self.link(last) { linkat(self.root.number, part.name, folder.number, $0, 0) }
        unlinkat(self.root.number, part.name, 0)
        return (folders + [name]).joined(separator: "/")
    }

    /// Tries a name, and numbers behind it. A link does not write over what is there, as a rename would.
    static func link(_ last: String, _ link: (String) -> CInt) throws(TransferError) -> String {
        var name = last
        for attempt in 2...1000 {
            if link(name) == 0 { return name }
            guard errno == EEXIST else { throw FileDescriptor.error("the file cannot get its name", .storage) }
            name = Self.numbered(last, attempt)
        }
        throw TransferError(.storage, message: "a thousand files of that name are there")
    }

    private func publishFolder(_ part: PartFile, as offer: TransferOffer, _ open: inout OpenFolders) throws(TransferError) -> String {
        _ = try open.open(offer.name.components[...], below: self.root)
        unlinkat(self.root.number, part.name, 0)
        return offer.name.description
    }

    /// Whether the offered name is taken, and there is nothing unfinished to go on with.
    func isTaken(_ offer: TransferOffer) -> Bool {
        guard !offer.isFolder, let last = offer.name.components.last, let folder = self.folder(of: offer), folder.status(of: last) != nil
        else { return false }
        // A crash between the two names of a finished file leaves both.
        return self.root.status(of: offer.partName).map { $0.links > 1 } ?? true
    }

    /// The folder of the offered name, when it is there.
    private func folder(of offer: TransferOffer) -> FileDescriptor? {
        var folder = self.root
        for component in offer.name.components.dropLast() {
            let number = openat(folder.number, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { return nil }
            folder = FileDescriptor(number)
        }
        return folder
    }

    /// So many files of one name and size are compared.
    private static let maximumCompared = 8

    /// Looks for a finished file that has the offered name, or it and a number, the offered size, and a hash that the sender has shown.
    ///
    /// It is read, and not even the time of that is noted in it, where the system lets us.
    func openFinished(_ offer: TransferOffer, sha256: String) throws(TransferError) -> PartFile? {
        guard !offer.isFolder, let last = offer.name.components.last, let folder = self.folder(of: offer) else { return nil }
        var names: [String] = []
        for attempt in 1..<1000 {
            let name = attempt == 1 ? last : Self.numbered(last, attempt)
            guard let status = folder.status(of: name) else { break }
            if status.isFile, status.size == offer.size { names.append(name) }
        }
        // The last of them came last, and is the likeliest to be what the sender has.
        for name in names.suffix(Self.maximumCompared).reversed() {
            guard let descriptor = FileDescriptor(untouched: name, in: folder) else { continue }  // not ours to read
            let part = PartFile(
                descriptor, name: name, in: folder, finishedName: (offer.name.components.dropLast() + [name]).joined(separator: "/"))
            guard try part.isWhole(offer.size), part.hash == sha256 else { continue }
            if let other = self.root.status(of: offer.partName), other.inode == (try part.status()).inode {
                unlinkat(self.root.number, offer.partName, 0)  // its other name, which a crash has left
            }
            return part
        }
        return nil
    }

    static func openFolder(_ name: String, below parent: FileDescriptor) throws(TransferError) -> FileDescriptor {
        if mkdirat(parent.number, name, 0o777) != 0, errno != EEXIST {
            throw FileDescriptor.error("a folder cannot be made", .storage)
        }
        let number = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw FileDescriptor.error("a folder cannot be opened, or is a link", .storage) }
        return FileDescriptor(number)
    }

    /// `photo (2).jpg`, cut so that it fits.
    static func numbered(_ name: String, _ number: Int) -> String {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let suffix = " (\(number))" + String(name[dot...])
        var stem = String(name[..<dot])
        while !stem.isEmpty, stem.utf8.count + suffix.utf8.count > SafeFileName.maximumComponentBytes { stem.removeLast() }
        return stem + suffix
    }
}

/// What has come of a file: written at its end, hashed in order.
///
/// Blocks; one call at a time, which the transfer sees to, but for syncs. The lock on it goes with the descriptor.
final class PartFile: @unchecked Sendable {
    // Unchecked because: one call at a time; a sync uses the constants only.

    let name: String
    /// The name, with its folders, under which it stands already: it is compared, and never changed.
    let finishedName: String?
    private let descriptor: FileDescriptor
    private var hasher = SHA256()
    private(set) var size = 0
    /// Why it could not be written on: what would be behind that has no place any more.
    private var writeFailure: TransferError?
    /// Where its name stands.
    private let folder: FileDescriptor
    private let syncs = NIOLockedValueBox(Syncs())

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

    /// Hashes a finished file; `false` when it is not of this size any more.
    func isWhole(_ length: Int) throws(TransferError) -> Bool {
        let status = try self.descriptor.status()
        guard status.isFile, status.size == length else { return false }
        try self.load()
        return self.size == length
    }

    func status() throws(TransferError) -> FileDescriptor.Status { try self.descriptor.status() }

    /// Lets another have the file.
    func unlock() {
        flock(self.descriptor.number, LOCK_UN)
    }

    /// The hash of everything there is.
    var hash: String {
        let copy = self.hasher
        return copy.finalize().hexadecimal
    }

    /// Syncs what is there and hashes it.
    ///
    /// After a power cut a file may be as long as it was and hold zeros: the hash tells.
    func load() throws(TransferError) {
        let size = try self.descriptor.status().size
        guard size > 0 else { return }
        try self.sync()
        var buffer = [UInt8](repeating: 0, count: TransferChunk.maximumBytes)
        while self.size < size {
            let offset = self.size
            let count = buffer.withUnsafeMutableBytes { memory in
                FileDescriptor.retrying { pread(self.descriptor.number, memory.baseAddress, memory.count, off_t(offset)) }
            }
            guard count > 0 else { throw FileDescriptor.error("the unfinished file cannot be read", .storage) }
            buffer.withUnsafeBytes { self.hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            self.size += count
        }
    }

    func empty() throws(TransferError) {
        guard self.finishedName == nil else { throw TransferError(.storage, message: "a finished file is not emptied") }
        guard ftruncate(self.descriptor.number, 0) == 0 else {
            throw FileDescriptor.error("the unfinished file cannot be emptied", .storage)
        }
        self.size = 0
        self.writeFailure = nil
        self.hasher = SHA256()
    }

    /// Writes behind what is there.
    func append(_ pieces: [ByteBuffer]) throws(TransferError) {
        guard self.finishedName == nil else { throw TransferError(.storage, message: "a finished file is not written to") }
        if let failure = self.writeFailure { throw failure }
        for piece in pieces {
            var failure: CInt?
            piece.withUnsafeReadableBytes { bytes in
                var written = 0
                while written < bytes.count, let start = bytes.baseAddress {
                    let offset = off_t(self.size + written)
                    let result = FileDescriptor.retrying { pwrite(self.descriptor.number, start + written, bytes.count - written, offset) }
                    guard result > 0 else {
                        failure = result < 0 ? errno : ENOSPC
                        return
                    }
                    written += result
                }
                self.hasher.update(bufferPointer: bytes)
            }
            if let failure {
                let error = FileDescriptor.error("the file cannot be written", .storage, errno: failure)
                self.writeFailure = error
                throw error
            }
            self.size += piece.readableBytes
        }
    }

    /// Makes durable what is written. May be called beside the others, and by several at a time.
    ///
    /// One waits for the other, and after a failure all fail: the system tells of an error only once, to whoever syncs first.
    func sync() throws(TransferError) {
        try self.syncBytes()
        let failure = self.syncs.withLockedValue { syncs -> TransferError? in
            guard !syncs.nameIsDurable else { return nil }
            // A file whose name is lost in a power cut was never durable. Once: the name does not change.
            guard fsync(self.folder.number) == 0 else { return FileDescriptor.error("the folder cannot be synced", .storage) }
            syncs.nameIsDurable = true
            return nil
        }
        if let failure { throw failure }
    }

    /// The same without the name, for a file that gets another one.
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
