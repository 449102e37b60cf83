package import ApusChatStorage
import NIOConcurrencyHelpers

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Records ended sessions that could not be removed from the database, for example because the disk
/// is full.
///
/// The file `chat.ended` has its full size from the start, so that a record needs no disk space.
/// Each place of the file contains the key of a device and its complement; other content is
/// ignored.
package final class RevocationJournal: Sendable {
    /// The number of places. When all are used, ending a session fails until the database can be
    /// written.
    static let places = 4_096
    private static let placeBytes = 16
    private let descriptor: Int32
    private let used = NIOLockedValueBox<[DeviceKey]>([])

    package init(in folder: String) throws(StorageError) {
        let path = folder + "/chat.ended"
        self.descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard self.descriptor >= 0 else { throw Self.failure() }
        var bytes = [UInt8](repeating: 0, count: Self.places * Self.placeBytes)
        let count = pread(self.descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw Self.failure() }
        if count < bytes.count {
            // Each byte is written, because a hole in the file would need disk space later.
            guard pwrite(self.descriptor, bytes, bytes.count, 0) == bytes.count, fsync(self.descriptor) == 0 else { throw Self.failure() }
        }
        let found = stride(from: 0, to: bytes.count, by: Self.placeBytes).compactMap { start -> DeviceKey? in
            let (key, check) = (Self.number(bytes, at: start), Self.number(bytes, at: start + 8))
            return key == ~check ? DeviceKey(Int64(bitPattern: key)) : nil
        }
        self.used.withLockedValue { $0 = found }
    }

    // The object owns the descriptor. Each record was synced when it was written.
    deinit { _ = close(self.descriptor) }

    /// The devices whose session has ended.
    package var devices: [DeviceKey] { self.used.withLockedValue { $0 } }

    /// Records an ended session. The record is on disk when the method returns.
    package func add(_ device: DeviceKey) throws(StorageError) {
        let isWritten = self.used.withLockedValue { used -> Bool? in
            guard used.count < Self.places else { return nil }
            let key = UInt64(bitPattern: device.rawValue)
            let bytes = [key, ~key].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
            guard pwrite(self.descriptor, bytes, bytes.count, off_t(used.count * Self.placeBytes)) == bytes.count,
                fsync(self.descriptor) == 0
            else { return false }
            used.append(device)
            return true
        }
        guard let isWritten else {
            throw StorageError(
                .full, message: "chat.ended has no free place: \(Self.places) ended sessions wait until the database can be written")
        }
        if !isWritten { throw Self.failure() }
    }

    /// Removes all records, after the sessions were removed from the database.
    package func removeAll() throws(StorageError) {
        let isWritten = self.used.withLockedValue { used -> Bool in
            let zeros = [UInt8](repeating: 0, count: used.count * Self.placeBytes)
            guard pwrite(self.descriptor, zeros, zeros.count, 0) == zeros.count, fsync(self.descriptor) == 0 else { return false }
            used = []
            return true
        }
        if !isWritten { throw Self.failure() }
    }

    private static func number(_ bytes: [UInt8], at start: Int) -> UInt64 {
        bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func failure() -> StorageError {
        StorageError(errno == ENOSPC ? .full : .io, message: "chat.ended cannot be written: \(String(cString: strerror(errno)))")
    }
}
