import ApusFramedProtocol
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

/// A disk operation of a transfer. It blocks and must run on a thread pool.
enum DiskWork: Sendable {
    /// Determines the existing bytes of an upload.
    case prepare(TransferOffer, in: ReceivingFolder, session: UInt64, hasLease: Bool, recognizesFinished: Bool)
    /// Compares the sender's hash with the unfinished file or, if there is none, with finished
    /// files of the same name.
    case compare(TransferOffer, PrefixProof, PartFile?, in: ReceivingFolder)
    /// Stores a small file in one step: like `prepare`, `append` and `finish`, but leaves no file
    /// on failure.
    case take(TransferOffer, [ByteBuffer], sha256: String, in: ReceivingFolder, session: UInt64, FileReceiving.Habits)
    case append([ByteBuffer], count: Int, to: PartFile)
    /// Syncs the file, compares its hash and gives the file its name.
    case finish(PartFile, as: TransferOffer, in: ReceivingFolder, sha256: String, keepsAttributes: Bool)
    case discard(PartFile, in: ReceivingFolder)
    /// Removes an unfinished file that is empty.
    case discardIfEmpty(PartFile, in: ReceivingFolder)
    case open(OutgoingSource, whole: Bool)

    /// The result of one operation.
    enum Report: Sendable {
        /// The unfinished file and the number of its bytes, subject to the sender's proof. The file
        /// is `nil` when a finished file may be the offered one.
        case prepared(PartFile?, offset: Int)
        case compared(PartFile, isEqual: Bool)
        /// The file has this name, and `had` bytes of it existed before. The name is `nil` when the
        /// hash differs.
        case taken(name: String?, had: Int)
        /// The file cannot be stored in one step.
        case declined
        case appended(count: Int)
        /// The final name of the file; `nil` when the hash differs.
        case finished(name: String?)
        case discarded
        case opened(OpenedFile)
    }

    /// The results of a list of operations, up to the first failure. Later operations were not
    /// performed.
    struct Outcome: Sendable {
        var reports: [Report] = []
        var failure: TransferError?
    }

    /// Performs the operations of several transfers.
    ///
    /// Folders with new names are synced once at the end. No file is reported as complete before
    /// that.
    static func perform(_ lists: [[DiskWork]]) -> [Outcome] {
        var batch = DiskBatch()
        var outcomes = lists.map { works in
            var outcome = Outcome()
            for work in works {
                do throws(TransferError) {
                    outcome.reports.append(try work.perform(&batch))
                } catch {
                    outcome.failure = error
                    break
                }
            }
            return outcome
        }
        if let failure = batch.folders.sync() {
            for index in outcomes.indices where outcomes[index].failure == nil {
                switch outcomes[index].reports.last {
                case .finished(name: _?)?: break
                case .taken(name: _?, had: _)?: lists[index].last?.release()
                default: continue
                }
                outcomes[index].reports.removeLast()
                outcomes[index].failure = failure
            }
        }
        return outcomes
    }

    /// Releases the lease of a file that was stored in one step.
    private func release() {
        guard case .take(let offer, _, _, let folder, _, _) = self else { return }
        folder.leases.withLockedValue { $0.released(offer.partName) }
    }

    private func perform(_ batch: inout DiskBatch) throws(TransferError) -> Report {
        switch self {
        case .prepare(let offer, let folder, let session, let hasLease, let recognizesFinished):
            let isTaken = recognizesFinished && folder.isTaken(offer)
            if !hasLease { try folder.admit(offer, session: session, isTaken: isTaken, &batch) }
            do throws(TransferError) {
                return try Self.prepare(offer, in: folder, isTaken: isTaken)
            } catch {
                if !hasLease { folder.leases.withLockedValue { $0.released(offer.partName) } }
                throw error
            }
        case .compare(_, let shown, let part?, let folder): return .compared(part, isEqual: try folder.compare(part, with: shown))
        case .compare(let offer, let shown, nil, let folder):
            if let finished = try folder.openFinished(offer, sha256: shown.sha256) { return .compared(finished, isEqual: true) }
            try folder.reserve(offer, &batch)
            let part = try folder.openPart(offer)
            try part.empty()
            return .compared(part, isEqual: false)
        case .take(let offer, let pieces, let sha256, let folder, let session, let habits):
            let isTaken = habits.recognizesFinished && folder.isTaken(offer)
            let unfinished = try folder.admit(offer, session: session, isTaken: isTaken, &batch)
            // An unfinished file may be in use by another process. Resuming it in chunks acquires
            // its lock.
            guard unfinished == nil else { return .declined }
            do throws(TransferError) {
                return try folder.take(
                    offer, pieces, sha256: sha256, isTaken: isTaken, keepsAttributes: habits.keepsAttributes, &batch)
            } catch {
                self.release()
                throw error
            }
        case .append(let pieces, let count, let part):
            try part.append(pieces)
            return .appended(count: count)
        case .finish(let part, let offer, let folder, let sha256, let keepsAttributes):
            guard part.hash == sha256 else { return .finished(name: nil) }
            do throws(TransferError) {
                try part.syncBytes()
            } catch {
                // After a failed sync, the system may read back data that is not on the disk.
                folder.discard(part)
                throw error
            }
            return .finished(name: try folder.publish(part, as: offer, keepsAttributes: keepsAttributes, &batch.folders))
        case .discard(let part, let folder):
            folder.discard(part)
            return .discarded
        case .discardIfEmpty(let part, let folder):
            folder.discardIfEmpty(part)
            return .discarded
        case .open(let source, let whole): return .opened(try source.open(whole: whole))
        }
    }
}

extension DiskWork {
    private static func prepare(_ offer: TransferOffer, in folder: ReceivingFolder, isTaken: Bool) throws(TransferError) -> Report {
        guard isTaken else {
            let part = try folder.openPart(offer)
            return .prepared(part, offset: try part.status().size)
        }
        // Every sender has the empty file, so there is nothing to prove.
        guard offer.size == 0 else { return .prepared(nil, offset: offer.size) }
        if let finished = try folder.openFinished(offer, sha256: Self.emptyHash) { return .prepared(finished, offset: 0) }
        return .prepared(try folder.openPart(offer), offset: 0)
    }

    private static let emptyHash = SHA256.hash(data: [UInt8]()).hexadecimal
}

/// The values that are determined once per batch of disk work.
struct DiskBatch {
    var folders = OpenFolders()
    /// The space by folder. The leases account for the bytes that are written during the batch.
    private var rooms: [ObjectIdentifier: (free: Int, stored: Int)] = [:]

    /// Returns the free space of a folder's disk, and the number of bytes in the folder.
    mutating func room(of folder: ReceivingFolder) throws(TransferError) -> (free: Int, stored: Int) {
        let key = ObjectIdentifier(folder)
        if let known = self.rooms[key] { return known }
        let room = (free: try folder.freeBytes(), stored: folder.limits.totalBytes == .max ? 0 : folder.storedBytes())
        self.rooms[key] = room
        return room
    }
}

/// The folders in which files receive their names during one batch. Each is opened once, and synced
/// once at the end.
struct OpenFolders {
    private struct Key: Hashable {
        var folder: ObjectIdentifier
        var path: String
    }

    private var folders: [Key: FileDescriptor] = [:]

    /// Opens the folder at `path` below `root`. Creates it and its parents if necessary.
    mutating func open(_ path: ArraySlice<String>, below root: FileDescriptor) throws(TransferError) -> FileDescriptor {
        let key = Key(folder: ObjectIdentifier(root), path: path.joined(separator: "/"))
        if let known = self.folders[key] { return known }
        guard let name = path.last else {
            self.folders[key] = root
            return root
        }
        let parent = try self.open(path.dropLast(), below: root)
        let folder = try ReceivingFolder.openFolder(name, below: parent)
        self.folders[key] = folder
        return folder
    }

    /// Syncs all folders. Returns the error of the first one that fails.
    func sync() -> TransferError? {
        for folder in self.folders.values where fsync(folder.number) != 0 {
            return FileDescriptor.error("a folder cannot be synced", .storage)
        }
        return nil
    }
}
