import ApusFramedProtocol

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open file or folder. It is closed when the last reference is released.
///
/// Every method blocks and must run on a thread pool, never on an event loop.
final class FileDescriptor: Sendable {
    let number: CInt

    init(_ number: CInt) {
        self.number = number
    }

    deinit {
        close(self.number)
    }

    /// Opens a file in a folder for reading, without following links. Leaves the access time of the
    /// file unchanged where the system supports that. Returns `nil` when it cannot be opened.
    convenience init?(untouched name: String, in folder: FileDescriptor) {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        #if canImport(Darwin)
            let number = openat(folder.number, name, flags)
        #else
            // The added flag is O_NOATIME, which Swift does not import. Only the owner of the file
            // may use it.
            var number = openat(folder.number, name, flags | 0o1_000_000)
            if number < 0, errno == EPERM { number = openat(folder.number, name, flags) }
        #endif
        guard number >= 0 else { return nil }
        self.init(number)
    }

    /// Makes a transfer error from `errno`. Its message never contains a path, because it is sent
    /// to the peer.
    static func error(_ description: String, _ code: TransferError.Code, errno number: CInt = errno) -> TransferError {
        let isFull = number == ENOSPC || number == EDQUOT || number == EFBIG
        return TransferError(isFull ? .diskFull : code, message: "\(description): \(String(cString: strerror(number)))")
    }

    /// Repeats a call that was interrupted by a signal.
    static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            guard result < 0, errno == EINTR else { return result }
        }
    }

    /// Returns the size, kind, time and permissions.
    func status() throws(TransferError) -> Status {
        var buffer = stat()
        guard fstat(self.number, &buffer) == 0 else { throw Self.error("the status of the file cannot be read", .storage) }
        return Status(buffer)
    }

    /// Returns the status of an entry of this folder, without following links; `nil` when it does
    /// not exist or its status cannot be read.
    func status(of name: String) -> Status? {
        var buffer = stat()
        return fstatat(self.number, name, &buffer, AT_SYMLINK_NOFOLLOW) == 0 ? Status(buffer) : nil
    }

    /// Returns the status of the file at a path.
    static func status(atPath path: String, followsLinks: Bool) throws(TransferError) -> Status {
        var buffer = stat()
        guard fstatat(AT_FDCWD, path, &buffer, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
            throw Self.error("the status of the file cannot be read", .source)
        }
        return Status(buffer)
    }

    /// Returns the name in a directory entry.
    static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        // Read the name in place: an entry can be shorter than its imported type.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return "" }
        return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
    }

    /// Returns whether a directory entry is known to be a regular file. Some file systems do not
    /// report the type.
    static func isFile(_ entry: UnsafeMutablePointer<dirent>) -> Bool {
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_type) else { return false }
        return UnsafeRawPointer(entry).load(fromByteOffset: offset, as: UInt8.self) == UInt8(DT_REG)
    }

    /// Sets the modification time.
    ///
    /// - Parameter modified: Nanoseconds since 1970.
    func setTime(_ modified: Int64) throws(TransferError) {
        let (seconds, rest) = modified.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = rest < 0 ? Self.time(seconds - 1, rest + 1_000_000_000) : Self.time(seconds, rest)
        guard futimens(self.number, [time, time]) == 0 else {
            throw Self.error("the modification time of the file cannot be set", .storage)
        }
    }

    // The module that declares the members of `timespec` cannot be imported explicitly, and whether
    // the compiler finds them varies between builds. On all supported platforms, `timespec`
    // consists of two words: seconds and nanoseconds.

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
        /// The number of hard links.
        var links: UInt64
        /// The modification time, in nanoseconds since 1970.
        var modified: Int64
        var permissions: UInt16

        /// Returns whether the file is unchanged. The number of hard links is ignored.
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
