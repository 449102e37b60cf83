#if canImport(Subprocess)
    import Subprocess
#endif

/// Runs a program in a child process with limits, in a folder of its own (docs/hazards.md, 22).
enum ToolProcess {
    /// Sets the limits, changes the folder and executes the program.
    ///
    /// `timeout` ends the program even if the server was killed. The option `--foreground` is
    /// required, because a signal to the process group does not reach the program otherwise.
    /// Without a `timeout` that has the option, the program runs without `timeout`. With the
    /// option, `timeout` does not end the children of the program. Its time limit therefore exceeds
    /// that of ``run(_:_:in:limits:)``, which kills the process group.
    private static func script(_ limits: ToolLimits) -> String {
        var checks = ["ulimit -c 0", "ulimit -t \(limits.processorSeconds)", "ulimit -f \(limits.fileBytes / 512)"]
        #if os(Linux)
            checks.append("ulimit -v \(limits.memoryBytes / 1_024)")
        #endif
        checks.append("cd \"$1\"")
        let seconds = limits.time.components.seconds + 10
        return """
            \(checks.joined(separator: " && ")) || exit 125
            shift
            if timeout --foreground 1 true 2>/dev/null; then exec timeout --foreground -s KILL \(seconds) nice "$@"; fi
            exec nice "$@"
            """
    }

    /// Runs a program, and returns what it printed. The program has ended when the method returns
    /// or throws, even when the task is cancelled.
    ///
    /// The end of the time, a cancellation and too much output kill its process group, and thereby
    /// its children. A program that exits before that leaves its children running, within the
    /// limits of `ulimit`. The programs of ``MediaTools`` start no children.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - folder: The working directory.
    static func run(_ path: String, _ arguments: [String], in folder: String, limits: ToolLimits = ToolLimits()) async throws -> [UInt8] {
        #if canImport(Subprocess)
            var options = PlatformOptions()
            options.processGroupID = 0
            options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
            let (script, platform) = (self.script(limits), options)
            return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                group.addTask {
                    let result = try await Subprocess.run(
                        .name("sh"), arguments: Arguments(["-c", script, "sh", folder, path] + arguments),
                        environment: .custom(self.environment), platformOptions: platform, output: .bytes(limit: limits.outputBytes),
                        error: .discarded)
                    guard result.terminationStatus.isSuccess else { throw ToolFailure.failed("\(result.terminationStatus)") }
                    return result.standardOutput
                }
                group.addTask {
                    try await Task.sleep(for: limits.time)
                    return nil
                }
                defer { group.cancelAll() }
                guard let output = try await group.next() ?? nil else { throw ToolFailure.timedOut }
                return output
            }
        #else
            throw ToolFailure.unavailable
        #endif
    }

    #if canImport(Subprocess)
        /// Contains nothing of the server's environment except `PATH`. Sets one thread, and permits
        /// no decoder of libvips that is not meant for files of unknown origin.
        private static let environment: [Environment.Key: String] = [
            "PATH": MediaTools.searchPath, "LC_ALL": "C", "HOME": "/nonexistent", "VIPS_CONCURRENCY": "1", "VIPS_BLOCK_UNTRUSTED": "1",
            "VIPS_NOVECTOR": "1", "MALLOC_ARENA_MAX": "1",
        ]
    #endif
}
