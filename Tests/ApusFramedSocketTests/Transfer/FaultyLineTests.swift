import ApusFramedProtocol
import ApusFramedSocket
import ApusTesting
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Transfers over faulty connections: each ends with a complete file or a typed error, and the next
/// one resumes.
@Suite(.serialized) struct FaultyLineTests {
    /// A receiver and files to send to it.
    ///
    /// Only a client on a faulty connection has a short deadline. If the deadline passes before the
    /// fault occurs, the attempt ends with a typed error as well.
    private final class World: Sendable {
        let path = NSTemporaryDirectory() + "apus-faults-\(UUID().uuidString)"
        private static let patience = Duration.seconds(60)
        /// The offsets at which the attempts began, by name.
        let began = NIOLockedValueBox<[String: [Int]]>([:])
        /// The uploads of each name that the receiver has not ended, and the tasks that wait for
        /// their end.
        private let uploads = NIOLockedValueBox<[String: (open: Int, waiting: [CheckedContinuation<Void, Never>])]>([:])

        init() throws {
            for folder in ["source", "target"] {
                try FileManager.default.createDirectory(atPath: self.path + "/" + folder, withIntermediateDirectories: true)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: self.path) }

        private static func setDeadlines(_ configuration: inout FramedConnectionConfiguration, _ patience: Duration) {
            configuration.handshakeTimeout = patience
            configuration.headerTimeout = patience
            configuration.stallTimeout = patience
            configuration.pingInterval = min(patience, .milliseconds(500))
            configuration.pingTimeout = patience
            configuration.closeTimeout = min(patience, .milliseconds(500))
            configuration.transferTimeout = patience
        }

        static func client(patience: Duration = World.patience) -> FramedClientConfiguration {
            var configuration = FramedClientConfiguration()
            self.setDeadlines(&configuration.connection, patience)
            return configuration
        }

        func withReceiver(_ body: (_ port: Int) async throws -> Void) async throws {
            var configuration = FramedServerConfiguration()
            Self.setDeadlines(&configuration.connection, Self.patience)
            let (began, uploads) = (self.began, self.uploads)
            configuration.connection.receiving = FileReceiving(into: try ReceivingFolder(path: self.path + "/target")) { event in
                let name = event.offeredName.description
                switch event.kind {
                case .began(let offset):
                    began.withLockedValue { $0[name, default: []].append(offset) }
                    uploads.withLockedValue { $0[name, default: (0, [])].open += 1 }
                case .completed, .failed:
                    let waiting = uploads.withLockedValue { uploads -> [CheckedContinuation<Void, Never>] in
                        guard var upload = uploads[name], upload.open > 0 else { return [] }  // refused before it began
                        upload.open -= 1
                        let waiting = upload.open == 0 ? upload.waiting : []
                        if upload.open == 0 { upload.waiting = [] }
                        uploads[name] = upload
                        return waiting
                    }
                    for continuation in waiting { continuation.resume() }
                case .progress: break
                }
            }
            try await withServer(FramedServer(configuration: configuration) { _ = await $0.waitUntilClosed() }) { try await body($0) }
        }

        func file(_ name: String, _ count: Int) throws -> String {
            let path = self.path + "/source/" + name
            try Data(pattern(count).readableBytesView).write(to: URL(fileURLWithPath: path))
            return path
        }

        func isWhole(_ name: String, _ count: Int) -> Bool {
            FileManager.default.contents(atPath: self.path + "/target/" + name) == Data(pattern(count).readableBytesView)
        }

        /// Sends one file over one connection. Returns the error and the number of durable bytes.
        func send(_ path: String, port: Int, patience: Duration = World.patience) async -> (error: (any Error)?, durable: Int) {
            let durable = NIOLockedValueBox(0)
            do {
                let connection = try await FramedClient.connect(
                    host: "127.0.0.1", port: port, configuration: Self.client(patience: patience))
                do {
                    try await connection.send(file: path) { progress in durable.withLockedValue { $0 = progress.sentBytes } }
                    await connection.close()
                } catch {
                    await connection.close()
                    throw error
                }
                return (nil, durable.withLockedValue { $0 })
            } catch {
                return (error, durable.withLockedValue { $0 })
            }
        }

        func expectSent(_ path: String, port: Int) async {
            let error = await self.send(path, port: port).error
            #expect(error == nil, "\(String(describing: error))")
        }

        /// Sends without faults, after the receiver has detected the end of the previous
        /// connection. The receiver may still write the bytes that it has received.
        func finish(_ path: String, port: Int) async throws {
            while true {
                await self.uploadsEnd(of: URL(fileURLWithPath: path).lastPathComponent)
                let error = await self.send(path, port: port).error
                guard (error as? TransferError)?.code == .busy else {
                    if let error { throw error }
                    return
                }
            }
        }

        private func uploadsEnd(of name: String) async {
            await withCheckedContinuation { continuation in
                let isWaiting = self.uploads.withLockedValue { uploads in
                    guard uploads[name]?.open ?? 0 > 0 else { return false }
                    uploads[name]?.waiting.append(continuation)
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        }
    }

    private static func isTyped(_ error: any Error) -> Bool { error is FramedError || error is TransferError }

    // MARK: Slow connections

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (.none, 3_000_000), (.delay(.milliseconds(3)), 3_000_000), (.rate(bytesPerSecond: 3_000_000), 2_000_000), (.chop(1), 8000),
            (.chop(1000), 2_000_000),
        ] as [(FaultProxy.Fault, Int)])
    func aSlowConnectionTransfersAll(fault: FaultProxy.Fault, count: Int) async throws {
        let world = try World()
        let path = try world.file("a", count)
        try await world.withReceiver { port in
            try await FaultProxy.withProxy(to: port, toServer: fault, toClient: fault) { proxy in
                await world.expectSent(path, port: proxy.port)
            }
        }
        #expect(world.isWhole("a", count))
    }

    // MARK: Broken connections

    /// The deadline of a client on a connection that may carry nothing more.
    private static let faultyPatience = Duration.milliseconds(300)

    private static let breaks: [FaultProxy.Fault] = [0, 30, 200, 100_000, 1_400_000].flatMap {
        [.stall(after: $0), .reset(after: $0), .halfClose(after: $0)]
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func aLineThatBreaksIsNoticed(isToServer: Bool) async throws {
        let world = try World()
        let count = 1_500_000
        try await world.withReceiver { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The answers are short, so a fault at a late byte never occurs in that direction.
                for (index, fault) in Self.breaks.enumerated() {
                    group.addTask {
                        let path = try world.file("\(index)", count)
                        let (error, durable) = await FaultProxy.withProxyOrNothing(
                            to: port, toServer: isToServer ? fault : .none, toClient: isToServer ? .none : fault
                        ) { await world.send(path, port: $0.port, patience: Self.faultyPatience) }
                        if let error { #expect(Self.isTyped(error), "\(fault): \(error)") }
                        if isToServer { #expect(error != nil, "\(fault) was not noticed") }
                        try await world.finish(path, port: port)
                        #expect(world.isWhole("\(index)", count), "\(fault)")
                        // The transfer resumed at the durable offset or later. In the other
                        // direction the file may be complete already, without an answer.
                        if isToServer, durable > 0 {
                            #expect(world.began.withLockedValue { $0["\(index)"]?.last ?? 0 } >= durable, "\(fault): \(durable)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    // MARK: Damaged bytes

    @Test(.timeLimit(.minutes(5)), arguments: 1...6 as ClosedRange<UInt64>) func damagedChunksAreSentAgain(seed: UInt64) async throws {
        let world = try World()
        let count = 6_000_000
        let path = try world.file("a", count)
        try await world.withReceiver { port in
            try await FaultProxy.withProxy(
                to: port, toServer: .corrupt(every: 400_000, after: 2000, atMost: 8), seed: seed
            ) { proxy in
                await world.expectSent(path, port: proxy.port)
                #expect(proxy.bytesToServer > count + 100_000)
            }
        }
        #expect(world.isWhole("a", count))
    }

    /// Flips one bit at a position of the first frames, in either direction: hellos, heads, offer,
    /// accept, the first chunk. Some flips are undetected, such as in the name of the file. None
    /// may hang, trap or produce a wrong file.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func aDamagedHeadIsAnError(isToServer: Bool) async throws {
        let world = try World()
        let count = 300_000
        try await world.withReceiver { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for offset in stride(from: 0, to: isToServer ? 400 : 260, by: 7) {
                    if offset >= 70 { try await group.next() }
                    group.addTask {
                        let path = try world.file("\(offset)", count)
                        let (error, _) = await FaultProxy.withProxyOrNothing(
                            to: port, toServer: isToServer ? .flip(at: offset) : .none, toClient: isToServer ? .none : .flip(at: offset),
                            seed: UInt64(offset)
                        ) { await world.send(path, port: $0.port, patience: Self.faultyPatience) }
                        if let error { #expect(Self.isTyped(error), "\(offset): \(error)") }
                        try await world.finish(path, port: port)
                        #expect(world.isWhole("\(offset)", count), "\(offset)")
                    }
                }
                try await group.waitForAll()
            }
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: world.path + "/target") where !name.hasSuffix(".part") {
            #expect(world.isWhole(name, count), "\(name) is wrong")
        }
    }

    // MARK: Cancellation

    /// The confirmation arrives while a body is sent over a slow connection, which remains usable.
    @Test(.timeLimit(.minutes(5))) func aCancellationIsConfirmedDuringABody() async throws {
        let world = try World()
        let path = try world.file("a", 20_000_000)
        try await world.withReceiver { port in
            try await FaultProxy.withProxy(to: port, toServer: .rate(bytesPerSecond: 8_000_000)) { proxy in
                let connection = try await FramedClient.connect(host: "127.0.0.1", port: proxy.port, configuration: World.client())
                let began = AsyncStream.makeStream(of: Void.self)
                let sending = Task { try await connection.send(file: path) { if $0.sentBytes > 0 { began.continuation.yield() } } }
                for await _ in began.stream { break }
                sending.cancel()
                await #expect(throws: CancellationError.self) { try await sending.value }
                #expect(connection.closure == nil)
                try await connection.send(file: try world.file("b", 1000))
                await connection.close()
            }
        }
        #expect(world.isWhole("b", 1000))
    }
}

extension FaultProxy {
    /// Like `withProxy`, for bodies that do not throw.
    fileprivate static func withProxyOrNothing(
        to port: Int, toServer: Fault = .none, toClient: Fault = .none, seed: UInt64 = 1,
        _ body: (FaultProxy) async -> (error: (any Error)?, durable: Int)
    ) async -> (error: (any Error)?, durable: Int) {
        do {
            return try await self.withProxy(to: port, toServer: toServer, toClient: toClient, seed: seed) { await body($0) }
        } catch {
            return (error, 0)
        }
    }
}
