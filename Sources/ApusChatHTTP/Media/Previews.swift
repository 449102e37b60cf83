import ApusChatProtocol
import ApusChatStorage
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOPosix

/// The previews of files, made by child processes: `previews/ab/abcd….thumbnail`.
///
/// They are a cache: a missing preview is rebuilt when it is requested. If it cannot be
/// made, a picture is served as it is, and a request for the preview of another file is refused.
final class Previews: Sendable {
    /// The maximum number of files whose failure is recorded, and of recorded missing previews.
    private static let failures = 1_000
    /// The maximum size of a recording that is converted before it is sent, in bytes: about ten
    /// minutes of AMR.
    private static let voiceBytes = 1 << 20
    let folder: String
    let tools: MediaTools
    let limits: ToolLimits
    private let queue = MediaQueue()
    private let threads: NIOThreadPool
    private let state = NIOLockedValueBox(State())

    private struct Key: Hashable, Sendable {
        var blob: BlobID
        var isVoice: Bool
    }

    private struct Missing: Hashable, Sendable {
        var blob: BlobID
        var kind: PreviewKind
    }

    private struct State: Sendable {
        var jobs: [Key: Task<MediaFacts?, Never>] = [:]
        /// The files for which no preview can be made, oldest first.
        var failed: [Key] = []
        /// The previews that the job of their file does not make, because a tool is not installed
        /// or the file has no pictures; oldest first.
        var missing: [Missing] = []
        var isClosed = false
    }

    /// Creates the maker of previews, and removes the files that an interrupted run has left.
    ///
    /// - Parameter folder: The data folder.
    init(folder: String, tools: MediaTools, threads: NIOThreadPool, limits: ToolLimits = ToolLimits()) throws {
        self.folder = folder + "/previews"
        self.tools = tools
        self.limits = limits
        self.threads = threads
        try DurableFile.makeFolder(self.folder)
        try? FileManager.default.removeItem(atPath: self.folder + "/work")
        try DurableFile.makeFolder(self.folder + "/work")
    }

    /// Cancels the jobs that are running, with their processes.
    func close() async {
        self.queue.close()
        let jobs = self.state.withLockedValue { state in
            state.isClosed = true
            return Array(state.jobs.values)
        }
        for job in jobs { job.cancel() }
        for job in jobs { _ = await job.value }
    }

    func path(_ kind: PreviewKind, of blob: BlobID) -> String { "\(self.folder(of: blob))/\(blob.rawValue).\(kind.rawValue)" }

    private func folder(of blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue.prefix(2))" }

    /// Makes the previews of a new file. Waits at most `time` for them, and returns the properties
    /// of the file; nil if it cannot be examined, or not in time. The job continues after that
    /// time.
    func make(of blob: BlobRow, at source: MediaSource, for user: UserKey, waiting time: Duration) async -> MediaFacts? {
        guard let job = self.job(blob, .preview, source, user) else { return nil }
        return await job.result(within: time)?.get() ?? nil
    }

    /// Returns the path of a preview. Makes it if it is missing, and waits at most `time`.
    ///
    /// - Returns: The path; nil if the preview is missing and cannot be made, or not in time.
    func path(_ kind: PreviewKind, of blob: BlobRow, at source: MediaSource, for user: UserKey, waiting time: Duration) async -> String? {
        let path = self.path(kind, of: blob.id)
        if await self.exists(path) { return path }
        let missing = Missing(blob: blob.id, kind: kind)
        guard kind.applies(to: blob.type), !self.state.withLockedValue({ $0.missing.contains(missing) }),
            let job = self.job(blob, kind, source, user)
        else { return nil }
        let result = await job.result(within: time)
        if await self.exists(path) { return path }
        // The job has succeeded without this preview. Another job would not make it either.
        if case .success(.some)? = result {
            self.state.withLockedValue { state in
                guard !state.missing.contains(missing) else { return }
                state.missing.append(missing)
                if state.missing.count > Self.failures { state.missing.removeFirst() }
            }
        }
        return nil
    }

    /// Converts an AMR recording to AAC. Returns nil for other bytes, and for a recording that is
    /// too long or cannot be converted.
    func convertedVoice(_ bytes: [UInt8], for user: UserKey) async -> [UInt8]? {
        guard bytes.count <= Self.voiceBytes, MediaType.sniffed(Array(bytes.prefix(MediaType.prefixBytes))) == "audio/amr",
            self.tools.films != nil
        else { return nil }
        var limits = self.limits
        limits.time = min(limits.time, .seconds(5))
        return try? await self.queue.run(for: user) { [limits] in
            let parent = self.folder + "/work"
            let workshop = try await self.threads.runIfActive { try Workshop(in: parent, content: bytes) }
            let made = try? await PreviewMaker(tools: self.tools, limits: limits, workshop: workshop).voice("audio/amr")
            if Task.isCancelled { workshop.remove() }
            return try await self.threads.runIfActive {
                defer { workshop.remove() }
                return made?.files[.voice].flatMap { workshop.bytes($0) }
            }
        }
    }

    /// Removes the previews of a blob that is collected. Blocks.
    func remove(_ blob: BlobID) {
        for kind in PreviewKind.allCases { DurableFile.remove(self.path(kind, of: blob)) }
    }

    private func exists(_ path: String) async -> Bool {
        await (try? self.threads.runIfActive { DurableFile.exists(path) }) ?? false
    }

    /// Returns the job for a file: the running one, or a new one. Nil if the tools are missing,
    /// have failed for the file, or were closed.
    private func job(_ blob: BlobRow, _ kind: PreviewKind, _ source: MediaSource, _ user: UserKey) -> Task<MediaFacts?, Never>? {
        guard self.handles(blob.type, kind) else { return nil }
        let key = Key(blob: blob.id, isVoice: kind == .voice)
        return self.state.withLockedValue { state in
            if let job = state.jobs[key] { return job }
            guard !state.isClosed, !state.failed.contains(key) else { return nil }
            let job = Task {
                let outcome = await self.work(key, blob.type, source, user)
                self.state.withLockedValue { state in
                    state.jobs[key] = nil
                    guard case .failure(let error) = outcome, error is ToolFailure, error as? ToolFailure != .unavailable else { return }
                    state.failed.append(key)
                    if state.failed.count > Self.failures { state.failed.removeFirst() }
                }
                return try? outcome.get()
            }
            state.jobs[key] = job
            return job
        }
    }

    private func handles(_ type: String, _ kind: PreviewKind) -> Bool {
        if kind == .voice { return self.tools.films != nil }
        if type.hasPrefix("image/") { return self.tools.pictures != nil }
        return (type.hasPrefix("video/") || type.hasPrefix("audio/")) && self.tools.probe != nil
    }

    private func work(_ key: Key, _ type: String, _ source: MediaSource, _ user: UserKey) async -> Result<MediaFacts, any Error> {
        do {
            return .success(
                try await self.queue.run(for: user) {
                    let parent = self.folder + "/work"
                    let workshop = try await self.threads.runIfActive { try Workshop(in: parent) }
                    let result: Result<PreviewMaker.Made, any Error>
                    do {
                        try await source.place(workshop.path(Workshop.input))
                        result = .success(try await self.previews(type, isVoice: key.isVoice, workshop))
                    } catch {
                        result = .failure(error)
                    }
                    // The thread pool runs no work for a cancelled task.
                    if Task.isCancelled { workshop.remove() }
                    return try await self.threads.runIfActive {
                        defer { workshop.remove() }
                        let made = try result.get()
                        for (kind, name) in made.files {
                            try workshop.publish(name, in: self.folder(of: key.blob), as: self.path(kind, of: key.blob))
                        }
                        return made.facts
                    }
                })
        } catch {
            self.tools.logger?.debug("No preview", metadata: ["chat.blob": "\(key.blob)", "error": "\(error)"])
            return .failure(error)
        }
    }

    private func previews(_ type: String, isVoice: Bool, _ workshop: Workshop) async throws -> PreviewMaker.Made {
        let maker = PreviewMaker(tools: self.tools, limits: self.limits, workshop: workshop)
        if isVoice { return try await maker.voice(type) }
        return type.hasPrefix("image/") ? try await maker.pictures(type) : try await maker.film(type)
    }
}
