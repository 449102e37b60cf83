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

/// What a transfer wants of the disk. Blocks: it is for the threads of a pool.
enum DiskWork: Sendable {
    /// Looks what there is of an upload.
    case prepare(TransferOffer, in: ReceivingFolder, session: UInt64, hasLease: Bool, recognizesFinished: Bool)
    /// Compares what there is with what the sender has shown: the unfinished file, or a finished one of the name when there is none.
    case compare(TransferOffer, ShownBeginning, PartFile?, in: ReceivingFolder)
    /// Takes a small file that has come whole: what the other three do, in one go and with nothing left behind when it fails.
    case take(TransferOffer, [ByteBuffer], sha256: String, in: ReceivingFolder, session: UInt64, FileReceiving.Habits)
    case append([ByteBuffer], count: Int, to: PartFile)
    /// Syncs, compares the hash and gives the file its name.
    case finish(PartFile, as: TransferOffer, in: ReceivingFolder, sha256: String, keepsAttributes: Bool)
    case discard(PartFile, in: ReceivingFolder)
    /// Removes an unfinished file that was given up before anything of it came.
    case discardIfEmpty(PartFile, in: ReceivingFolder)
    case open(OutgoingSource, whole: Bool)

    /// What came of it.
    enum Report: Sendable {
        /// So much is there, unless the sender shows that it has something else; `nil`: a finished file may be what is offered.
        case prepared(PartFile?, offset: Int)
        case compared(PartFile, isEqual: Bool)
        /// It stands under its name (`nil`: it has another hash, and none), or `had` bytes of it stood there before.
        case taken(name: String?, had: Int)
        /// It cannot be taken in one go.
        case declined
        case appended(count: Int)
        /// `nil`: it has another hash and no name.
        case finished(name: String?)
        case discarded
        case opened(OpenedFile)
    }

    /// What came of a list: the work up to the first that failed. What is behind that stands on it and was not begun.
    struct Outcome: Sendable {
        var reports: [Report] = []
        var failure: TransferError?
    }

    /// The work of several transfers in one go.
    ///
    /// Folders in which files got their names are synced once, behind all of them: nobody hears of a file that is complete before this returns.
    static func perform(_ lists: [[DiskWork]]) -> [Outcome] {
        var visit = DiskVisit()
        var outcomes = lists.map { works in
            var outcome = Outcome()
            for work in works {
                do throws(TransferError) {
                    outcome.reports.append(try work.perform(&visit))
                } catch {
                    outcome.failure = error
                    break
                }
            }
            return outcome
        }
        if let failure = visit.folders.sync() {
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

    /// Gives back the lease of a file that was taken whole.
    private func release() {
        guard case .take(let offer, _, _, let folder, _, _) = self else { return }
        folder.leases.withLockedValue { $0.released(offer.partName) }
    }

    private func perform(_ visit: inout DiskVisit) throws(TransferError) -> Report {
        switch self {
        case .prepare(let offer, let folder, let session, let hasLease, let recognizesFinished):
            let isTaken = recognizesFinished && folder.isTaken(offer)
            if !hasLease { try folder.admit(offer, session: session, isTaken: isTaken, &visit) }
            do throws(TransferError) {
                return try Self.prepare(offer, in: folder, isTaken: isTaken)
            } catch {
                if !hasLease { folder.leases.withLockedValue { $0.released(offer.partName) } }
                throw error
            }
        case .compare(_, let shown, let part?, let folder): return .compared(part, isEqual: try folder.compare(part, with: shown))
        case .compare(let offer, let shown, nil, let folder):
            if let finished = try folder.openFinished(offer, sha256: shown.sha256) { return .compared(finished, isEqual: true) }
            try folder.reserve(offer, &visit)
            let part = try folder.openPart(offer)
            try part.empty()
            return .compared(part, isEqual: false)
        case .take(let offer, let pieces, let sha256, let folder, let session, let habits):
            let isTaken = habits.recognizesFinished && folder.isTaken(offer)
            let unfinished = try folder.admit(offer, session: session, isTaken: isTaken, &visit)
            // Somebody is at it, or was: whoever goes on with it has a lock on it first.
            guard unfinished == nil else { return .declined }
            do throws(TransferError) {
                return try folder.take(
                    offer, pieces, sha256: sha256, isTaken: isTaken, keepsAttributes: habits.keepsAttributes, &visit)
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
                // A disk that failed to sync may read it back as if it were there.
                folder.discard(part)
                throw error
            }
            return .finished(name: try folder.publish(part, as: offer, keepsAttributes: keepsAttributes, &visit.folders))
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
        // Any sender has an empty file: there is nothing to show.
        guard offer.size == 0 else { return .prepared(nil, offset: offer.size) }
        if let finished = try folder.openFinished(offer, sha256: Self.emptyHash) { return .prepared(finished, offset: 0) }
        return .prepared(try folder.openPart(offer), offset: 0)
    }

    private static let emptyHash = SHA256.hash(data: [UInt8]()).hexadecimal
}

/// What is found out once for all the work of one visit to the disk.
struct DiskVisit {
    var folders = OpenFolders()
    /// By the folder they are of: what files write meanwhile is in the ledger until the visit ends.
    private var rooms: [ObjectIdentifier: (free: Int, stored: Int)] = [:]

    /// The bytes that are free on a folder's disk, and those that stand in it.
    mutating func room(of folder: ReceivingFolder) throws(TransferError) -> (free: Int, stored: Int) {
        let key = ObjectIdentifier(folder)
        if let known = self.rooms[key] { return known }
        let room = (free: try folder.freeBytes(), stored: folder.limits.totalBytes == .max ? 0 : folder.storedBytes())
        self.rooms[key] = room
        return room
    }
}

/// The folders in which files get their names during one visit to the disk: opened once each, and synced once each in the end.
struct OpenFolders {
    private struct Key: Hashable {
        var folder: ObjectIdentifier
        var path: String
    }

    private var folders: [Key: FileDescriptor] = [:]

    /// The folder at `path` below `root`, with all on the way to it; made when it is not there.
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

    /// Answers why one of them could not be.
    func sync() -> TransferError? {
        for folder in self.folders.values where fsync(folder.number) != 0 {
            return FileDescriptor.error("a folder cannot be synced", .storage)
        }
        return nil
    }
}
