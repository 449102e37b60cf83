import ApusChatStorage
import Foundation

@testable import ApusChatSQLite

/// A temporary folder that is removed when the object is released.
final class TemporaryFolder {
    let path: String

    init() throws {
        self.path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-storage-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func open(_ environment: SQLiteEnvironment = SQLiteEnvironment()) throws -> SQLiteStorage {
        try SQLiteStorage(ChatFolder(self.path), environment: environment)
    }

    static func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    /// Copies a file to another folder, in which it replaces a file of the same name.
    func copy(_ name: String, to other: TemporaryFolder, as newName: String? = nil) throws {
        let target = other.path + "/" + (newName ?? name)
        try? FileManager.default.removeItem(atPath: target)
        try FileManager.default.copyItem(atPath: self.path + "/" + name, toPath: target)
    }
}
