import Foundation

/// Expands a `~` at the beginning of a path, in the same way as a shell.
package enum HomePath {
    /// Replaces a leading `~` with `home`, and a leading `~NAME` with the home directory of that
    /// user. Foundation alone ignores the environment variable `HOME`.
    package static func expanded(_ path: String, home: String? = ProcessInfo.processInfo.environment["HOME"]) -> String {
        guard let home, !home.isEmpty, path == "~" || path.hasPrefix("~/") else { return (path as NSString).expandingTildeInPath }
        let rest = path.dropFirst(2)
        return rest.isEmpty ? home : home.hasSuffix("/") ? home + rest : home + "/" + rest
    }
}
