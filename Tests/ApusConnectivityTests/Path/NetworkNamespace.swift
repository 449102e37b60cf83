#if os(Linux)
    import Foundation
    import Glibc
    import NIOConcurrencyHelpers

    /// A network namespace for a test, held by a thread. Sockets and processes of the thread belong
    /// to the namespace, which ends with the last of them.
    final class NetworkNamespace: @unchecked Sendable {
        struct Failure: Error {
            var what: String
        }

        /// Unchecked: the mutable state is behind `lock`.
        private let lock = NSCondition()
        private var work: [@Sendable () -> Void] = []
        private var hasEnded = false
        private var unshareResult: CInt = -1

        static var isAvailable: Bool {
            guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: self.ipPath) else { return false }
            let namespace = NetworkNamespace()
            defer { namespace.end() }
            return (try? namespace.ip("link set lo up")) != nil
        }

        private static var ipPath: String {
            ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/sbin/ip"
        }

        init() {
            Thread.detachNewThread { [self] in
                // Glibc's module does not export unshare(2).
                typealias Unshare = @convention(c) (CInt) -> CInt
                if let symbol = dlsym(nil, "unshare") {
                    self.unshareResult = unsafeBitCast(symbol, to: Unshare.self)(0x4000_0000)  // CLONE_NEWNET
                }
                self.lock.lock()
                while true {
                    while self.work.isEmpty, !self.hasEnded { self.lock.wait() }
                    guard !self.work.isEmpty else { break }
                    let next = self.work.removeFirst()
                    self.lock.unlock()
                    next()
                    self.lock.lock()
                }
                self.lock.unlock()
            }
        }

        func end() {
            self.lock.lock()
            self.hasEnded = true
            self.lock.broadcast()
            self.lock.unlock()
        }

        /// Runs `body` on the thread and returns its result.
        func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
            let result = NIOLockedValueBox<Swift.Result<Result, any Error>?>(nil)
            let done = DispatchSemaphore(value: 0)
            self.lock.lock()
            self.work.append {
                let outcome = Swift.Result { () throws -> Result in
                    guard self.unshareResult == 0 else { throw Failure(what: "unshare") }
                    return try body()
                }
                result.withLockedValue { $0 = outcome }
                done.signal()
            }
            self.lock.broadcast()
            self.lock.unlock()
            done.wait()
            guard let outcome = result.withLockedValue({ $0 }) else { throw Failure(what: "nothing ran") }
            return try outcome.get()
        }

        /// Runs `ip` with each of these arguments.
        func ip(_ commands: String...) throws {
            try self.run {
                for command in commands {
                    // Not Foundation's Process, because this thread has no run loop.
                    var arguments = ([Self.ipPath] + command.split(separator: " ").map(String.init)).map { strdup($0) } + [nil]
                    defer { for argument in arguments { free(argument) } }
                    var id = pid_t()
                    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
                    guard posix_spawn(&id, Self.ipPath, nil, nil, &arguments, &environment) == 0 else { throw Failure(what: "posix_spawn") }
                    var status: CInt = -1
                    while waitpid(id, &status, 0) < 0, errno == EINTR {}
                    guard status == 0 else { throw Failure(what: "ip \(command): \(status)") }
                }
            }
        }
    }
#endif
