import Foundation
package import Logging

/// The programs that make previews. Each is optional.
package struct MediaTools: Sendable {
    /// The path of `vipsthumbnail`, for pictures.
    let pictures: String?
    /// The path of `ffprobe`, for the properties of films and recordings.
    let probe: String?
    /// The path of `ffmpeg`, to extract a picture of a film and to convert recordings.
    let films: String?
    let logger: Logger?

    /// No programs: files are served as they are.
    package static let none = Self(pictures: nil, probe: nil, films: nil, logger: nil)

    /// Finds the programs in the folders of `PATH`, and logs once which previews the server cannot
    /// make.
    package static func found(logger: Logger) -> Self {
        let tools = Self(
            pictures: self.path(of: "vipsthumbnail"), probe: self.path(of: "ffprobe"), films: self.path(of: "ffmpeg"), logger: logger)
        if tools.pictures == nil {
            logger.notice("Pictures have no previews: install vipsthumbnail (Debian: libvips-tools)")
        }
        if tools.probe == nil || tools.films == nil { logger.notice("Videos have no previews: install ffmpeg") }
        return tools
    }

    static let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"

    private static func path(of name: String) -> String? {
        #if canImport(Subprocess)
            self.searchPath.split(separator: ":").map { "\($0)/\(name)" }
                .first { $0.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: $0) }
        #else
            nil
        #endif
    }
}
