import Foundation

/// The python-socketio server of `Conformance/peers`, as a child process.
final class PythonPeer: @unchecked Sendable {
    // Unchecked because the members are set in `init` and only read afterwards.

    /// The path of a Python interpreter with python-socketio and aiohttp, from `APUS_PYTHON`; nil if
    /// it is not executable. `make test` selects the one in `.venv`.
    static let interpreter = PythonPeer.executable("APUS_PYTHON")

    /// The path of a Python interpreter with python-socketio 4.6 (Socket.IO 2.x), from
    /// `APUS_PYTHON_SOCKETIO4`. `make test` selects the one in `.venv-socketio4-server`, if it
    /// exists.
    static let interpreter4 = PythonPeer.executable("APUS_PYTHON_SOCKETIO4")

    private static func executable(_ variable: String) -> String? {
        ProcessInfo.processInfo.environment[variable].flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
    }

    struct StartFailure: Error {
        var output: String
    }

    let port: Int
    private let process = Process()
    private let input = Pipe()

    /// Starts a server and waits, without a time limit, until it listens.
    init(port: Int = 0, arguments: [String] = [], interpreter: String? = PythonPeer.interpreter) throws {
        let script = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Conformance/peers/python_socketio_server.py")
        let output = Pipe()
        self.process.executableURL = URL(fileURLWithPath: interpreter ?? "/usr/bin/python3")
        self.process.arguments = [script.path, String(port)] + arguments
        self.process.standardInput = self.input
        self.process.standardOutput = output
        try self.process.run()
        var line = ""
        while !line.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }  // the server has ended
            line += String(decoding: data, as: UTF8.self)
        }
        let number = line.split(separator: ":").last.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        guard let number else { throw StartFailure(output: line) }
        self.port = number
    }

    var url: String { "http://127.0.0.1:\(self.port)" }

    /// Kills the server and waits for its end.
    func kill() {
        guard self.process.isRunning else { return }
        Foundation.kill(self.process.processIdentifier, SIGKILL)
        self.process.waitUntilExit()
    }

    deinit {
        self.kill()
    }
}
