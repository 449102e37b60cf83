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
    /// Takes a small file that has come whole: writes it without a name, syncs it, and gives it one.
    ///
    /// Whatever stops it, nothing is left: the system throws away what has no name. The folders are synced at the end of the visit, and the file is
    /// not complete before.
    func take(
        _ offer: TransferOffer, _ pieces: [ByteBuffer], sha256: String, isTaken: Bool, keepsAttributes: Bool, _ visit: inout DiskVisit
    ) throws(TransferError) -> DiskWork.Report {
        if offer.isFolder {
            _ = try visit.folders.open(offer.name.components[...], below: self.root)
            return .taken(name: offer.name.description, had: 0)
        }
        if isTaken {
            if let finished = try self.openFinished(offer, sha256: sha256) {
                return .taken(name: finished.finishedName, had: offer.size)
            }
            try self.reserve(offer, &visit)
        }
        let folders = offer.name.components.dropLast()
        guard let last = offer.name.components.last else { throw TransferError(.nameRefused, message: "a file without a name") }
        let folder = try visit.folders.open(folders, below: self.root)
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
    /// A file that is nowhere until it is linked; `nil` where there is no such thing, or where it could not be linked.
    convenience init?(unnamedIn folder: FileDescriptor) {
        #if os(Linux)
            guard Self.hasDescriptorPaths else { return nil }
            // O_TMPFILE, whose definition Swift does not see: a bit of its own and that of folders.
            let number = openat(folder.number, ".", O_RDWR | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o666)
            guard number >= 0 else { return nil }
            self.init(number)
        #else
            return nil
        #endif
    }

    /// Whether `/proc` is there, by which everybody may link a file without a name.
    private static let hasDescriptorPaths = access("/proc/self/fd", F_OK) == 0

    /// Gives a name to a file without one. `errno` tells of a failure.
    func link(as name: String, in folder: FileDescriptor) -> CInt {
        #if os(Linux)
            let result = linkat(self.number, "", folder.number, name, 0x1000)  // AT_EMPTY_PATH
            // Systems before 6.10 let only the mighty do that, and everybody this.
            guard result != 0, errno == ENOENT || errno == EPERM else { return result }
            return linkat(AT_FDCWD, "/proc/self/fd/\(self.number)", folder.number, name, AT_SYMLINK_FOLLOW)
        #else
            errno = ENOTSUP
            return -1
        #endif
    }
}
