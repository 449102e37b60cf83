import ApusChatProtocol
import ApusJSON

/// The properties of a film or a recording in the output of `ffprobe -of json`.
struct FilmFacts: Hashable, Sendable {
    /// Whether the file has a video stream of known size. Cover art in an audio file counts as one.
    private(set) var hasPictures = false
    /// The size as it is shown, in pixels.
    private(set) var width: Int64 = 0
    private(set) var height: Int64 = 0
    /// The duration in milliseconds; 0 if unknown.
    private(set) var duration: Int64 = 0

    /// Parses the output. Returns nil for a file without an audio or video stream.
    init?(_ output: [UInt8]) {
        guard let json = try? JSONReader.read(output), let streams = json["streams"]?.arrayValue else { return nil }
        var isMedia = false
        for stream in streams {
            switch stream["codec_type"]?.stringValue {
            case "audio": isMedia = true
            case "video":
                isMedia = true
                guard !self.hasPictures, let width = stream["width"]?.intValue, let height = stream["height"]?.intValue else { continue }
                self.hasPictures = true
                (self.width, self.height) = (Int64(width), Int64(height))
                let turns = stream["side_data_list"]?.arrayValue?.compactMap { $0["rotation"]?.intValue } ?? []
                if let turn = turns.first, turn % 180 != 0 { swap(&self.width, &self.height) }
            default: continue
            }
        }
        guard isMedia else { return nil }
        if let text = json["format"]?["duration"]?.stringValue, let seconds = Double(text), seconds > 0 {
            self.duration = Int64(min(seconds * 1_000, Double(ChatLimits.mediaMilliseconds)).rounded())
        }
    }
}
