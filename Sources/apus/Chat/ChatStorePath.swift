import ApusChatClient
import Foundation

/// The default folder of a user's store.
enum ChatStorePath {
    static func standard(server: String, user: String) throws -> String {
        try self.folder().appendingPathComponent(self.folderName(server: server, user: user)).path
    }

    /// Returns the folder of all stores.
    private static func folder() throws -> URL {
        let environment = ProcessInfo.processInfo.environment
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        let folder = base.appendingPathComponent("apus")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ChatClientError(.store, message: "cannot create the folder \(folder.path); use another one with --store", cause: error)
        }
        return folder
    }

    // MARK: The last account

    /// Returns the server and the user of the last account whose store is in the default folder;
    /// nil if no such account was used.
    static func last() throws -> (server: String, user: String)? {
        let file = try self.folder().appendingPathComponent("last-account")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n").map(String.init)
        return lines.count == 2 ? (lines[0], lines[1]) : nil
    }

    /// Stores the server and the user for the next command. Ignores a failure.
    static func remember(server: String, user: String) {
        guard let folder = try? self.folder() else { return }
        try? Data("\(server)\n\(user)\n".utf8).write(to: folder.appendingPathComponent("last-account"), options: .atomic)
    }

    /// Returns a folder name of ASCII letters, digits, hyphens, periods and underscores. No server
    /// address or user name can therefore select a path outside the parent folder.
    static func folderName(server: String, user: String) -> String {
        let url = URL(string: server)
        let host = url?.host() ?? server
        let port = url?.port.map { "-\($0)" } ?? ""
        let safe = (host + port + "-" + user.lowercased()).unicodeScalars.map { scalar -> Character in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "-" || scalar == ".")
                ? Character(scalar) : "_"
        }
        return String(safe)
    }
}
