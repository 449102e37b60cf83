package import ApusChatStorage

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The data folder of a chat server. It is locked while this object exists.
///
/// With two servers on one folder, each would push only to its own clients, and SQLite would have
/// two writers. The lock is an advisory lock (`LOCK_EX`) on the file `chat.lock`. It belongs to the
/// open file, so it also excludes a second server in the same process. The kernel releases it when
/// the process ends.
package final class ChatFolder: Sendable {
    package let path: String
    private let lock: Int32
    let search = SearchHealth()

    /// Locks the folder. Creates it, with access for its owner only, if it does not exist.
    package init(_ path: String) throws(StorageError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StorageError(.io, message: "the folder \(path) cannot be created: \(error)", cause: error)
        }
        let file = path + "/chat.lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("opened", file) }
        var result: Int32
        repeat { result = flock(descriptor, LOCK_EX | LOCK_NB) } while result != 0 && errno == EINTR
        guard result == 0 else {
            let failure =
                errno == EWOULDBLOCK
                ? StorageError(
                    .locked, message: "another chat server uses the folder \(path); stop that server or choose another folder")
                : Self.failure("locked", file)
            _ = close(descriptor)
            throw failure
        }
        self.path = path
        self.lock = descriptor
    }

    // The object owns the descriptor. Closing it also releases the lock.
    deinit { _ = close(self.lock) }

    /// Releases the lock, so that another server can use the folder. The caller must not write to
    /// the folder afterwards.
    package func unlock() { _ = flock(self.lock, LOCK_UN) }

    var databasePath: String { self.path + "/chat.sqlite" }

    var searchPath: String { self.path + "/search.sqlite" }

    /// Creates the database file with access for its owner only. SQLite creates the write-ahead log
    /// with the same permissions.
    func createDatabase() throws(StorageError) { try Self.create(self.databasePath) }

    var hasSearchFile: Bool { access(self.searchPath, F_OK) == 0 }

    /// Frees the names of the search index if they belong to entries that the server cannot open as
    /// files. Removes a file without read and write permission, because the index is rebuilt from
    /// the log. Renames any other entry, such as a directory with data of the operator.
    ///
    /// - Returns: The new paths of the renamed entries.
    func clearSearchNames() throws(StorageError) -> [String] {
        var moved: [String] = []
        for suffix in ["", "-wal", "-shm"] {
            let path = self.searchPath + suffix
            var status = stat()
            guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFREG {
                guard access(path, R_OK | W_OK) != 0 else { continue }
                guard unlink(path) == 0 else { throw Self.failure("removed", path) }
            } else {
                let target = Self.unusedPath(path + ".unusable")
                guard rename(path, target) == 0 else { throw Self.failure("renamed, although the search index needs its name", path) }
                moved.append(target)
            }
        }
        return moved
    }

    private static func unusedPath(_ path: String) -> String {
        var candidate = path
        var number = 1
        while access(candidate, F_OK) == 0 {
            number += 1
            candidate = "\(path)-\(number)"
        }
        return candidate
    }

    /// Removes the search index and creates an empty file.
    func replaceSearchFile() throws(StorageError) {
        for suffix in ["", "-wal", "-shm"] where unlink(self.searchPath + suffix) != 0 && errno != ENOENT {
            throw Self.failure("removed", self.searchPath + suffix)
        }
        try Self.create(self.searchPath)
    }

    /// Removes the name of the search index. Open connections keep the removed file.
    func removeSearchFile() { _ = unlink(self.searchPath) }

    private static func create(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("created", path) }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("examined", path) }
        // SQLite treats a file of one byte as a new database.
        guard status.st_size != 1 else {
            throw StorageError(.corrupt, message: "\(path) is truncated: it has 1 byte; restore it from a backup")
        }
    }

    /// Creates a file with access for its owner only. Throws if the path exists.
    static func createEmptyFile(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            _ = close(descriptor)
            return
        }
        guard errno != EEXIST else { throw StorageError(.invalidUse, message: "\(path) exists; choose another path") }
        throw Self.failure("created", path)
    }

    static func removeFile(_ path: String) { _ = unlink(path) }

    /// Returns the inode of the database file, which differs from the inode of a copy.
    func databaseInode() throws(StorageError) -> Int64 {
        var status = stat()
        guard fstatat(AT_FDCWD, self.databasePath, &status, 0) == 0 else { throw Self.failure("examined", self.databasePath) }
        return Int64(truncatingIfNeeded: status.st_ino)
    }

    /// Returns the first 256 bytes of a file of the folder as text; nil if the file is missing,
    /// empty or not readable.
    func text(of name: String) -> String? {
        let descriptor = open(self.path + "/" + name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Overwrites the text of a small file.
    ///
    /// - Parameter isSynced: Whether the text must be on disk when the method returns.
    func write(_ text: String, to name: String, isSynced: Bool) throws(StorageError) {
        let file = self.path + "/" + name
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("opened", file) }
        defer { _ = close(descriptor) }
        let bytes = Array(text.utf8)
        let count = pwrite(descriptor, bytes, bytes.count, 0)
        guard count >= 0 else { throw Self.failure("written", file) }
        // A file system without room for all bytes writes a part of them.
        guard count == bytes.count else {
            throw StorageError(.full, message: "\(file) cannot be written: only \(count) of \(bytes.count) bytes were stored")
        }
        guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw Self.failure("written", file) }
        if isSynced, fsync(descriptor) != 0 { throw Self.failure("synced", file) }
    }

    private static func failure(_ what: String, _ path: String) -> StorageError {
        StorageError(errno == ENOSPC ? .full : .io, message: "\(path) cannot be \(what): \(String(cString: strerror(errno)))")
    }
}
