import NIOConcurrencyHelpers

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

/// An exclusive lock on a data folder. Two servers would each push only to their own clients, and
/// SQLite would have two writers.
///
/// It is an advisory lock (`LOCK_EX`) on the file `chat.lock` of the folder. The lock belongs to
/// the open file, so it also excludes a second server in the same process. The kernel releases it
/// when the process ends, even by SIGKILL. The file contains the process id of the last holder and
/// is not removed.
final class DataFolderLock: Sendable {
    /// `nil` once released.
    private let descriptor: NIOLockedValueBox<Int32?>

    /// Acquires the lock. Creates the folder, with access for its owner only, if it does not exist.
    ///
    /// - Throws: `ChatStoreError` `inUse` while another server holds the lock, or `cannotOpen` if
    ///   the folder cannot be used.
    init(directory: String) throws(ChatStoreError) {
        let path = directory + "/chat.lock"
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ChatStoreError(.cannotOpen, message: "cannot create the data folder \(directory): \(error)")
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("opened", path) }
        guard Self.lock(descriptor) else {
            let isHeld = errno == EWOULDBLOCK
            let failure = Self.failure("locked", path)
            let holder = isHeld ? Self.holder(descriptor) : nil
            _ = close(descriptor)
            guard isHeld else { throw failure }
            throw ChatStoreError(
                .inUse,
                message: "the data folder \(directory) is in use by another chat server (\(holder.map { "process \($0)" } ?? "starting")); "
                    + "stop that server or choose another folder")
        }
        let text = Array("\(getpid())\n".utf8)
        // The process id is only for the message above, so a failure is ignored.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
        self.descriptor = NIOLockedValueBox(descriptor)
    }

    deinit { self.release() }

    /// Releases the lock. The folder must not be used afterwards.
    func release() {
        let descriptor = self.descriptor.withLockedValue { $0.take() }
        if let descriptor { _ = close(descriptor) }
    }

    private static func lock(_ descriptor: Int32) -> Bool {
        var result: Int32
        repeat { result = flock(descriptor, LOCK_EX | LOCK_NB) } while result != 0 && errno == EINTR
        return result == 0
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    private static func failure(_ what: String, _ path: String) -> ChatStoreError {
        ChatStoreError(.cannotOpen, message: "\(path) cannot be \(what): \(String(cString: strerror(errno)))")
    }
}
