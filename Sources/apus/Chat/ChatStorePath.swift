import ApusChatClient
import Foundation

/// Where a user's store is, when nobody says.
enum ChatStorePath {
    static func standard(server: String, user: String) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        let folder = base.appendingPathComponent("apus")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ChatClientError(.store, message: "cannot make the folder \(folder.path); give a --store", cause: error)
        }
        return folder.appendingPathComponent(self.fileName(server: server, user: user)).path
    }

    /// Letters and digits only: neither an address nor a name may lead out of the folder.
    static func fileName(server: String, user: String) -> String {
        let url = URL(string: server)
        let host = url?.host() ?? server
        let port = url?.port.map { "-\($0)" } ?? ""
        let safe = (host + port + "-" + user.lowercased()).unicodeScalars.map { scalar -> Character in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "-" || scalar == ".")
                ? Character(scalar) : "_"
        }
        return String(safe) + ".sqlite"
    }
}
