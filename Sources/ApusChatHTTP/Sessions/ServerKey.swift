package import ApusChatStorage

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The secret of a server, from which the keys of tokens are derived. It is stored in the file
/// `chat.key`.
///
/// It is not in the database, so that a copy of the database cannot be used to create tokens. If
/// the file is lost, all sessions end.
package enum ServerKey {
    /// Reads the key of a data folder, or creates one.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - name: The name of the file.
    ///   - makes: A function that returns a new key of 32 bytes.
    package static func load(
        from folder: String, named name: String = "chat.key", makes: () -> [UInt8] = { Secrets.bytes(32) }
    ) throws(StorageError) -> [UInt8] {
        let path = folder + "/" + name
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw self.failure("opened", path) }
        defer { _ = close(descriptor) }
        var key = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &key, key.count, 0)
        guard count >= 0 else { throw self.failure("read", path) }
        if count == key.count { return key }
        guard count == 0 else {
            throw StorageError(
                .corrupt,
                message:
                    "\(path) must have 32 bytes, not \(count); restore it, or remove it to create a new key, which ends all sessions or subscriptions"
            )
        }
        key = makes()
        guard pwrite(descriptor, key, key.count, 0) == key.count, fsync(descriptor) == 0 else { throw self.failure("written", path) }
        return key
    }

    private static func failure(_ what: String, _ path: String) -> StorageError {
        StorageError(errno == ENOSPC ? .full : .io, message: "\(path) cannot be \(what): \(String(cString: strerror(errno)))")
    }
}
