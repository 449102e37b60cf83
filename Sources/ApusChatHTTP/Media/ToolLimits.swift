/// The limits of one run of a program that decodes a file of a client.
struct ToolLimits: Sendable {
    /// The time until the program is killed. If the server was killed before, the program ends up
    /// to 10 s later. Default: 20 s.
    var time = Duration.seconds(20)
    /// The maximum processor time, in seconds. Default: 15.
    var processorSeconds = 15
    /// The maximum size of the address space, in bytes. Default: 1 GiB, more than six times the
    /// largest picture at four bytes per pixel. Limited on Linux only.
    var memoryBytes: Int64 = 1 << 30
    /// The maximum size of a file that the program writes, in bytes. Default: 16 MiB.
    var fileBytes: Int64 = 16 << 20
    /// The maximum number of bytes that the program prints. Default: 64 KiB.
    var outputBytes = 64 << 10
}

/// An error of a run.
enum ToolFailure: Error, Hashable {
    /// The server cannot start child processes, or the program is not installed.
    case unavailable
    /// The program was still running at the end of ``ToolLimits/time``.
    case timedOut
    /// The program failed, exceeded another limit, or wrote no result.
    case failed(String)
}
