import Foundation
import Testing

@testable import ApusChatHTTP

#if canImport(Subprocess)
    @Suite(.timeLimit(.minutes(5))) struct ToolProcessTests {
        private static func folder() throws -> String {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-tool-" + UUID().uuidString).path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return path
        }

        private static func run(_ script: String, limits: ToolLimits = ToolLimits()) async throws -> String {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            return String(decoding: try await ToolProcess.run("/bin/sh", ["-c", script], in: folder, limits: limits), as: UTF8.self)
        }

        @Test func theOutputIsReturned() async throws {
            #expect(try await Self.run("printf 'a b'") == "a b")
            // The process has only the environment of the tools.
            #expect(try await Self.run("cd .. && echo \"$VIPS_BLOCK_UNTRUSTED $HOME\"") == "1 /nonexistent\n")
        }

        @Test(arguments: ["exit 3", "kill -9 $$", "no-such-program"]) func aFailureIsAnError(script: String) async throws {
            await #expect(throws: ToolFailure.self) { try await Self.run(script) }
        }

        @Test func aProgramThatIsMissingIsAnError() async throws {
            await #expect(throws: ToolFailure.self) { try await ToolProcess.run("/nonexistent/tool", [], in: "/") }
        }

        /// The process and its child write their ids, and are killed after the time limit.
        @Test func theTimeEndsTheProcessAndItsChildren() async throws {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            var limits = ToolLimits()
            limits.time = .milliseconds(500)
            let script = "sleep 600 & echo $! > child; echo $$ > parent; wait"
            await #expect(throws: ToolFailure.timedOut) {
                try await ToolProcess.run("/bin/sh", ["-c", script], in: folder, limits: limits)
            }
            // On a slow machine, the script may not have started within the time limit.
            for name in ["child", "parent"] {
                guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8),
                    let id = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
                else { continue }
                try await Self.waitForEnd(of: id)
            }
        }

        /// Waits at most 60 seconds until a process has ended. Its parent may not have reaped it.
        private static func waitForEnd(of id: Int32) async throws {
            try await Self.wait("the end of process \(id)") {
                guard let state = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return true }
                return state.contains(") Z ")
            }
        }

        private static func wait(_ event: Comment, until condition: () -> Bool) async throws {
            for _ in 0..<6_000 {
                if condition() { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record(event)
        }

        @Test func aCancelledTaskEndsTheProcess() async throws {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let task = Task { try await ToolProcess.run("/bin/sh", ["-c", "echo $$ > parent; sleep 600"], in: folder) }
            try await Self.wait("the start of the process") { FileManager.default.fileExists(atPath: folder + "/parent") }
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
        }

        @Test func filesAndOutputAreBounded() async throws {
            var limits = ToolLimits()
            limits.fileBytes = 64 << 10
            limits.outputBytes = 1_000
            await #expect(throws: ToolFailure.self) { try await Self.run("head -c 200000 /dev/zero > big", limits: limits) }
            await #expect(throws: (any Error).self) { try await Self.run("head -c 2000 /dev/zero", limits: limits) }
        }

        #if os(Linux)
            @Test func memoryAndProcessorTimeAreBounded() async throws {
                var limits = ToolLimits()
                limits.memoryBytes = 64 << 20
                limits.processorSeconds = 1
                #expect(try await Self.run("ulimit -v; ulimit -t; ulimit -c", limits: limits) == "65536\n1\n0\n")
                await #expect(throws: ToolFailure.self) { try await Self.run("while :; do :; done", limits: limits) }
            }
        #endif
    }
#endif
