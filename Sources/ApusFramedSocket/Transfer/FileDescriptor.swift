import ApusFramedProtocol

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open file or folder; closed when nobody holds it any more.
///
/// Every method blocks: it is for the threads of a pool and never for an event loop.
final class FileDescriptor: Sendable {
    let number: CInt

    init(_ number: CInt) {
        self.number = number
    }

    deinit {
        close(self.number)
    }

    /// Opens a file of a folder for reading, no link, in a way that leaves the time of its last reading as it was, where the system
    /// allows it; `nil` when it cannot be opened.
    convenience init?(untouched name: String, in folder: FileDescriptor) {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        #if os(Linux)
            // O_NOATIME, whose definition Swift does not see. Only for the file's owner.
            var number = openat(folder.number, name, flags | 0o1_000_000)
            if number < 0, errno == EPERM { number = openat(folder.number, name, flags) }
        #else
            let number = openat(folder.number, name, flags)
        #endif
        guard number >= 0 else { return nil }
        self.init(number)
    }

    /// What the system said, as an error of a transfer. Never a path: the message goes to the peer.
    static func error(_ what: String, _ code: TransferError.Code, errno number: CInt = errno) -> TransferError {
        let isFull = number == ENOSPC || number == EDQUOT || number == EFBIG
        return TransferError(isFull ? .diskFull : code, message: "\(what): \(String(cString: strerror(number)))")
    }

    /// Repeats a call that a signal interrupted.
    static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            guard result < 0, errno == EINTR else { return result }
        }
    }

    /// Size, kind, time and permissions.
    func status() throws(TransferError) -> Status {
        var buffer = stat()
        guard fstat(self.number, &buffer) == 0 else { throw Self.error("a file cannot be looked at", .storage) }
        return Status(buffer)
    }

    /// The same of what lies in this folder under a name, links not followed; `nil` when there is nothing.
    func status(of name: String) -> Status? {
        var buffer = stat()
        return fstatat(self.number, name, &buffer, AT_SYMLINK_NOFOLLOW) == 0 ? Status(buffer) : nil
    }

    /// The same of what lies at a path.
    static func status(atPath path: String, followsLinks: Bool) throws(TransferError) -> Status {
        var buffer = stat()
        guard fstatat(AT_FDCWD, path, &buffer, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
            throw Self.error("it cannot be looked at", .source)
        }
        return Status(buffer)
    }

    /// The name in an entry of a folder.
    static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        // Where it lies: an entry is as long as its name, and shorter than its type says.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return "" }
        return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
    }

    /// Whether an entry of a folder says that it is a file; not all file systems say what something is.
    static func isFile(_ entry: UnsafeMutablePointer<dirent>) -> Bool {
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_type) else { return false }
        return UnsafeRawPointer(entry).load(fromByteOffset: offset, as: UInt8.self) == UInt8(DT_REG)
    }

    /// Sets the time of the last change.
    ///
    /// - Parameter modified: Nanoseconds since 1970.
    func setTime(_ modified: Int64) throws(TransferError) {
        let (seconds, rest) = modified.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = rest < 0 ? Self.time(seconds - 1, rest + 1_000_000_000) : Self.time(seconds, rest)
        guard futimens(self.number, [time, time]) == 0 else { throw Self.error("the time cannot be set", .storage) }
    }

    // The members of `timespec` belong to a module of the toolchain that cannot be imported, and whether the compiler sees them all the same
    // changes from build to build. On every platform of ours it is two words: seconds and nanoseconds.

    private static func time(_ seconds: Int64, _ nanoseconds: Int64) -> timespec {
        unsafeBitCast((Int(clamping: seconds), Int(clamping: nanoseconds)), to: timespec.self)
    }

    fileprivate static func words(of time: timespec) -> (seconds: Int, nanoseconds: Int) {
        unsafeBitCast(time, to: (seconds: Int, nanoseconds: Int).self)
    }

    struct Status: Equatable {
        var isFile: Bool
        var isFolder: Bool
        var isLink: Bool
        var size: Int
        var device: UInt64
        var inode: UInt64
        /// How many names it has.
        var links: UInt64
        /// Nanoseconds since 1970.
        var modified: Int64
        var permissions: UInt16

        /// Whether the same file is as it was; another name for it changes nothing.
        func isUnchanged(since before: Status) -> Bool {
            var status = self
            status.links = before.links
            return status == before
        }

        fileprivate init(_ buffer: stat) {
            #if canImport(Darwin)
                let time = buffer.st_mtimespec
            #else
                let time = buffer.st_mtim
            #endif
            let words = FileDescriptor.words(of: time)
            let (seconds, overflow) = Int64(words.seconds).multipliedReportingOverflow(by: 1_000_000_000)
            self.isFile = buffer.st_mode & S_IFMT == S_IFREG
            self.isFolder = buffer.st_mode & S_IFMT == S_IFDIR
            self.isLink = buffer.st_mode & S_IFMT == S_IFLNK
            self.size = Int(buffer.st_size)
            self.device = UInt64(truncatingIfNeeded: buffer.st_dev)
            self.inode = UInt64(buffer.st_ino)
            self.links = UInt64(buffer.st_nlink)
            self.modified = overflow ? 0 : seconds &+ Int64(words.nanoseconds)
            self.permissions = UInt16(truncatingIfNeeded: buffer.st_mode & 0o777)
        }
    }
}
