import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import NIOConcurrencyHelpers
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An unfinished upload. It has three files in `uploads`, named by a random id.
///
/// `ID.info` contains the user and the length, `ID.part` the bytes, and `ID.offset` the number of
/// durable bytes. The methods block; the properties do not.
final class UploadPart: Sendable {
    let id: String
    let user: UserKey
    let length: Int64
    let expiresAt: Int64
    let path: String
    private let folder: String
    /// Syncs the bytes. Tests replace the closure.
    private let syncFile: @Sendable (OpenFile) throws(StorageError) -> Void

    private struct State {
        /// The number of bytes on disk.
        var durable: Int64
        /// The number of bytes written.
        var written: Int64
        /// The number of the current transfer. A new transfer ends the previous one, whose
        /// connection may be lost.
        var transfer = 0
        var file: OpenFile?
        var blob: BlobRow?
    }
    private let state: NIOLockedValueBox<State>

    /// Creates the files of a new upload.
    init(
        id: String, user: UserKey, length: Int64, expiresAt: Int64, in folder: String,
        syncFile: @escaping @Sendable (OpenFile) throws(StorageError) -> Void = { (file) throws(StorageError) in try file.sync() }
    ) throws(StorageError) {
        self.syncFile = syncFile
        self.id = id
        self.user = user
        self.length = length
        self.expiresAt = expiresAt
        self.folder = folder
        self.path = "\(folder)/\(id).part"
        self.state = .init(State(durable: 0, written: 0))
        try DurableFile.replace(folder + "/\(id).info", with: try self.info(nil), in: folder)
    }

    /// Opens an upload of an earlier run of the program; nil if its files are damaged.
    init?(existing id: String, in folder: String) {
        guard let bytes = DurableFile.bytes(of: folder + "/\(id).info", upTo: 4_096), let info = try? JSONReader.read(bytes),
            let user = info["user"]?.stringValue.flatMap({ Int64($0) }), let length = info["length"]?.intValue, length > 0,
            let expiresAt = info["expires"]?.intValue
        else { return nil }
        self.syncFile = { (file) throws(StorageError) in try file.sync() }
        self.id = id
        self.user = UserKey(user)
        self.length = Int64(length)
        self.expiresAt = Int64(expiresAt)
        self.folder = folder
        self.path = "\(folder)/\(id).part"
        var state = State(durable: 0, written: 0)
        if let record = DurableFile.bytes(of: folder + "/\(id).offset", upTo: 16), record.count == 16 {
            let (offset, check) = (Self.number(record[..<8]), Self.number(record[8...]))
            if offset == ~check, offset <= UInt64(length) { state.durable = Int64(offset) }
        }
        if let name = info["blob"]?.stringValue, let blob = BlobID(name) {
            state.durable = Int64(length)
            state.blob = BlobRow(
                id: blob, size: Int64(info["size"]?.intValue ?? 0), type: info["type"]?.stringValue ?? MediaType.other,
                width: Int64(info["width"]?.intValue ?? 0), height: Int64(info["height"]?.intValue ?? 0), createdAt: 0,
                duration: Int64(info["duration"]?.intValue ?? 0), thumb: info["thumb"]?.stringValue ?? "")
        }
        state.written = state.durable
        self.state = .init(state)
    }

    /// The number of bytes on disk.
    var offset: Int64 { self.state.withLockedValue { $0.durable } }

    /// The blob of the upload; nil before the upload is complete.
    var blob: BlobRow? { self.state.withLockedValue { $0.blob } }

    /// Begins a transfer, and ends the previous one. Returns the number of the transfer and the
    /// offset on disk.
    func begin() throws(StorageError) -> (transfer: Int, offset: Int64) {
        try self.locked { (state) throws(StorageError) in
            try self.sync(&state)
            state.transfer += 1
            if state.blob == nil, state.file == nil { state.file = try OpenFile(self.path, O_WRONLY | O_CREAT) }
            return (state.transfer, state.durable)
        }
    }

    /// The result of `append`.
    enum Appended: Equatable {
        case done
        /// A later transfer has begun. Nothing was written.
        case ended
        /// The bytes exceed the announced length. Nothing was written.
        case tooLong
    }

    /// Appends bytes that a transfer received.
    func append(_ bytes: ByteBuffer, _ transfer: Int, syncBytes: Int64) throws(StorageError) -> Appended {
        try self.locked { (state) throws(StorageError) in
            guard state.transfer == transfer, let file = state.file else { return .ended }
            let start = state.written
            guard Int64(bytes.readableBytes) <= self.length - start else { return .tooLong }
            var failure: StorageError?
            bytes.withUnsafeReadableBytes { buffer in
                do throws(StorageError) { try file.write(buffer, at: start) } catch { failure = error }
            }
            if let failure { throw failure }
            state.written += Int64(bytes.readableBytes)
            if state.written - state.durable >= syncBytes { try self.sync(&state) }
            return .done
        }
    }

    /// Ends a transfer. Returns the offset on disk; nil if a later transfer has begun.
    func end(_ transfer: Int) throws(StorageError) -> Int64? {
        try self.locked { (state) throws(StorageError) in
            guard state.transfer == transfer else { return nil }
            defer { state.file = nil }
            try self.sync(&state)
            return state.durable
        }
    }

    /// Records the blob of the upload, and removes the bytes of the upload, because the blob
    /// contains them.
    func finish(_ blob: BlobRow) throws(StorageError) {
        try self.locked { (state) throws(StorageError) in
            state.blob = blob
            state.file = nil
            state.transfer += 1
            try DurableFile.replace(self.folder + "/\(self.id).info", with: try self.info(blob), in: self.folder)
        }
        self.removeBytes()
    }

    /// Removes all files, which ends the current transfer.
    func remove() {
        self.state.withLockedValue { state in
            state.transfer += 1
            state.file = nil
        }
        DurableFile.remove(self.folder + "/\(self.id).info")
        self.removeBytes()
    }

    private func removeBytes() {
        for name in [self.path, self.path + ".clean", self.folder + "/\(self.id).offset"] { DurableFile.remove(name) }
    }

    /// Syncs the bytes, then records their number.
    private func sync(_ state: inout State) throws(StorageError) {
        guard state.written > state.durable, let file = state.file else { return }
        do throws(StorageError) {
            try self.syncFile(file)
        } catch {
            // After a failed sync, a later sync could succeed without these bytes. The client must
            // send them again.
            state.written = state.durable
            state.file = nil
            state.transfer += 1
            throw error
        }
        let number = UInt64(state.written)
        let record = [number, ~number].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
        let note = try OpenFile(self.folder + "/\(self.id).offset", O_WRONLY | O_CREAT)
        try note.write(record, at: 0)
        try note.sync()
        if state.durable == 0 { try DurableFile.syncFolder(self.folder) }
        state.durable = state.written
    }

    private func info(_ blob: BlobRow?) throws(StorageError) -> [UInt8] {
        var info: JSONObject = [
            "user": .string(String(self.user.rawValue)), "length": .integer(self.length), "expires": .integer(self.expiresAt),
        ]
        if let blob {
            info["blob"] = .string(blob.id.rawValue)
            info["size"] = .integer(blob.size)
            info["type"] = .string(blob.type)
            info["width"] = .integer(blob.width)
            info["height"] = .integer(blob.height)
            info["duration"] = .integer(blob.duration)
            info["thumb"] = .string(blob.thumb)
        }
        guard let bytes = try? JSONWriter.bytes(of: .object(info)) else {
            throw StorageError(.invalidUse, message: "the description of upload \(self.id) cannot be encoded as JSON")
        }
        return Array(bytes)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private func locked<Value>(_ body: (inout State) throws(StorageError) -> Value) throws(StorageError) -> Value {
        var result: Result<Value, StorageError>?
        self.state.withLockedValue { state in
            do throws(StorageError) { result = .success(try body(&state)) } catch { result = .failure(error) }
        }
        guard let result else { throw StorageError(.invalidUse, message: "the state of upload \(self.id) was not accessed") }
        return try result.get()
    }
}
