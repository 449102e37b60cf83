import ApusChatProtocol
import ApusJSON
import ApusPictures

/// Makes the previews of one file with the tools, in a folder of their own.
struct PreviewMaker: Sendable {
    /// The results of a job.
    struct Made: Sendable {
        var facts = MediaFacts()
        /// The names of the files in the folder.
        var files: [PreviewKind: String] = [:]
    }

    let tools: MediaTools
    let limits: ToolLimits
    let workshop: Workshop

    // MARK: Pictures

    /// Makes the previews of a picture: upright, without metadata, in the colors of sRGB.
    func pictures(_ type: String) async throws -> Made {
        var made = Made(files: [.preview: "preview.webp"])
        let mayMove = type == "image/gif" || type == "image/webp"
        do {
            try await self.scale(Workshop.input + (mayMove ? "[n=-1]" : ""), to: .preview, "preview.webp[Q=80,strip]")
        } catch let error where mayMove {
            // An animation can exceed the limits although its first picture does not.
            guard !(error is CancellationError) else { throw error }
            try await self.scale(Workshop.input, to: .preview, "preview.webp[Q=80,strip]")
        }
        try await self.thumbnails(of: "preview.webp", &made)
        return made
    }

    /// Makes the small pictures and the BlurHash from a preview.
    private func thumbnails(of preview: String, _ made: inout Made) async throws {
        try await self.scale(preview, to: .thumbnail, "thumbnail.webp[Q=75,strip]")
        made.files[.thumbnail] = "thumbnail.webp"
        try await self.scale(preview, to: .plain, "plain.jpg[Q=80,strip,background=255]")
        made.files[.plain] = "plain.jpg"
        try await self.runPictures(["--size", "32x32>", "-o", "tiny.ppm", "plain.jpg"])
        if let map = self.workshop.bytes("tiny.ppm", upTo: 64 << 10).flatMap({ PixelMap(portable: $0) }) {
            made.facts.thumb = BlurHash.text(of: map)
        }
    }

    private func scale(_ input: String, to kind: PreviewKind, _ output: String) async throws {
        try await self.runPictures(["--size", "\(kind.side)x\(kind.side)>", "--eprofile", "srgb", "-o", output, input])
    }

    private func runPictures(_ arguments: [String]) async throws {
        guard let path = self.tools.pictures else { throw ToolFailure.unavailable }
        _ = try await ToolProcess.run(path, arguments, in: self.workshop.folder, limits: self.limits)
    }

    // MARK: Films and recordings

    /// Returns the demuxer of a media type. The demuxer is always specified, because some demuxers
    /// that `ffmpeg` would select by the content open other files.
    private static func demuxer(of type: String) -> String? {
        switch type {
        case "video/mp4", "video/quicktime", "audio/mp4": "mov"
        case "video/webm", "audio/webm": "matroska"
        case "audio/ogg": "ogg"
        case "audio/flac": "flac"
        case "audio/wav": "wav"
        case "audio/mpeg": "mp3"
        case "audio/amr": "amr"
        default: nil
        }
    }

    /// Examines a film or a recording, and makes the pictures of a film.
    func film(_ type: String) async throws -> Made {
        guard let demuxer = Self.demuxer(of: type), let probe = self.tools.probe else { throw ToolFailure.unavailable }
        let output = try await ToolProcess.run(
            probe,
            [
                "-v", "error", "-protocol_whitelist", "file", "-f", demuxer, "-show_entries",
                "stream=codec_type,width,height:stream_side_data=rotation:format=duration", "-of", "json", Workshop.input,
            ], in: self.workshop.folder, limits: self.limits)
        guard let facts = FilmFacts(output) else { throw ToolFailure.failed("ffprobe found no audio or video stream in the file") }
        var made = Made()
        made.facts.duration = facts.duration
        guard facts.hasPictures else {
            if type.hasPrefix("video/") { made.facts.type = type == "video/webm" ? "audio/webm" : "audio/mp4" }
            return made
        }
        guard (1...ChatLimits.imageSide).contains(facts.width), (1...ChatLimits.imageSide).contains(facts.height),
            facts.width * facts.height <= ChatLimits.imagePixels
        else {
            throw ToolFailure.failed(
                "the video has \(facts.width) × \(facts.height) pixels; the maximum is \(ChatLimits.imageSide) for each side and "
                    + "\(ChatLimits.imagePixels) in total")
        }
        (made.facts.width, made.facts.height) = (facts.width, facts.height)
        guard type.hasPrefix("video/") else { return made }
        try await self.runFilms(
            demuxer, before: ["-ss", facts.duration > 2_000 ? "1" : "0"],
            after: [
                "-map", "0:v:0", "-frames:v", "1", "-vf", "scale='min(1600,iw)':'min(1600,ih)':force_original_aspect_ratio=decrease",
                "-map_metadata", "-1", "-q:v", "4", "-f", "image2", "-update", "1", "preview.jpg",
            ])
        made.files[.preview] = "preview.jpg"
        // Without the tool for pictures, the film has no smaller pictures and no BlurHash.
        try? await self.thumbnails(of: "preview.jpg", &made)
        return made
    }

    /// Converts a recording to AAC.
    func voice(_ type: String) async throws -> Made {
        guard let demuxer = Self.demuxer(of: type) else { throw ToolFailure.unavailable }
        try await self.runFilms(
            demuxer, before: ["-xerror"],
            after: [
                "-map", "0:a:0", "-map_metadata", "-1", "-c:a", "aac", "-b:a", "48k", "-fflags", "+bitexact", "-flags:a", "+bitexact",
                "-movflags", "+faststart", "-f", "ipod", "voice.m4a",
            ])
        return Made(files: [.voice: "voice.m4a"])
    }

    private func runFilms(_ demuxer: String, before: [String], after: [String]) async throws {
        guard let path = self.tools.films else { throw ToolFailure.unavailable }
        let arguments =
            ["-v", "error", "-nostdin", "-y", "-threads", "1", "-protocol_whitelist", "file", "-f", demuxer] + before
            + ["-i", Workshop.input, "-threads", "1"] + after
        _ = try await ToolProcess.run(path, arguments, in: self.workshop.folder, limits: self.limits)
    }
}
