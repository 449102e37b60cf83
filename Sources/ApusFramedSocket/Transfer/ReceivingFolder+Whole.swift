import ApusFramedProtocol
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension ReceivingFolder {
    /// Stores a small file in one step: writes an unnamed file, syncs it, and gives the file its
    /// name.
    ///
    /// On failure no file remains, because the system deletes unnamed files. The folders are synced
    /// at the end of the batch; the file is not complete before that.
    func take(
        _ offer: TransferOffer, _ pieces: [ByteBuffer], sha256: String, isTaken: Bool, keepsAttributes: Bool, _ batch: inout DiskBatch
    ) throws(TransferError) -> DiskWork.Report {
        if offer.isFolder {
            _ = try batch.folders.open(offer.name.components[...], below: self.root)
            return .taken(name: offer.name.description, had: 0)
        }
        if isTaken {
            if let finished = try self.openFinished(offer, sha256: sha256) {
                return .taken(name: finished.finishedName, had: offer.size)
            }
            try self.reserve(offer, &batch)
        }
        let folders = offer.name.components.dropLast()
        guard let last = offer.name.components.last else { throw TransferError(.nameRefused, message: "the file name is empty") }
        let folder = try batch.folders.open(folders, below: self.root)
        guard let descriptor = FileDescriptor(unnamedIn: folder) else { return .declined }
        let file = PartFile(descriptor, name: offer.partName, in: folder)
        try file.append(pieces)
        guard file.hash == sha256 else { return .taken(name: nil, had: 0) }
        if keepsAttributes { try file.setAttributes(of: offer) } else { try file.syncBytes() }
        let name = try Self.link(last) { descriptor.link(as: $0, in: folder) }
        return .taken(name: folders.isEmpty ? name : folders.joined(separator: "/") + "/" + name, had: 0)
    }
}

extension FileDescriptor {
    /// Creates an unnamed file, to be linked later. Returns `nil` if the system does not support
    /// that.
    convenience init?(unnamedIn folder: FileDescriptor) {
        #if canImport(Darwin)
            return nil
        #else
            guard Self.hasDescriptorPaths else { return nil }
            // The added flag is O_TMPFILE, which Swift does not import. It includes O_DIRECTORY.
            let number = openat(folder.number, ".", O_RDWR | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o666)
            guard number >= 0 else { return nil }
            self.init(number)
        #endif
    }

    /// Whether `/proc` is mounted. Linking an unnamed file through it needs no privileges.
    private static let hasDescriptorPaths = access("/proc/self/fd", F_OK) == 0

    /// Gives a name to an unnamed file. Sets `errno` on failure.
    func link(as name: String, in folder: FileDescriptor) -> CInt {
        #if canImport(Darwin)
            errno = ENOTSUP
            return -1
        #else
            let result = linkat(self.number, "", folder.number, name, 0x1000)  // AT_EMPTY_PATH
            // Before Linux 6.10, AT_EMPTY_PATH requires a privilege; the path in /proc does not.
            guard result != 0, errno == ENOENT || errno == EPERM else { return result }
            return linkat(AT_FDCWD, "/proc/self/fd/\(self.number)", folder.number, name, AT_SYMLINK_FOLLOW)
        #endif
    }
}
