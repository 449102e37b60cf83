extension MediaType {
    /// Returns the usual file name extension of a media type.
    static func fileExtension(of type: String) -> String {
        switch type {
        case "image/png": "png"
        case "image/jpeg": "jpg"
        case "image/gif": "gif"
        case "image/webp": "webp"
        case "audio/mp4": "m4a"
        case "audio/ogg": "ogg"
        case "audio/flac": "flac"
        case "audio/wav": "wav"
        case "audio/mpeg": "mp3"
        case "video/mp4": "mp4"
        case "video/webm": "webm"
        case "video/quicktime": "mov"
        default: "bin"
        }
    }
}
