import ApusFramedProtocol
@testable import ApusFramedSocket
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Tests of folders and many files over the loopback, and of the receiver's answers to them.
@Suite struct FolderTransferTests {
    private typealias Events = NIOLockedValueBox<[SentFileEvent]>

    private func sending(_ events: Events, maximumConcurrentFiles: Int = 4) -> FileSending {
        var sending = FileSending { event in events.withLockedValue { $0.append(event) } }
        sending.maximumConcurrentFiles = maximumConcurrentFiles
        return sending
    }

    /// The paths of everything below the target, folders with a trailing slash.
    private func tree(_ folders: Folders) -> [String] {
        let files = FileManager.default.enumerator(atPath: folders.target)
        var names: [String] = []
        while let name = files?.nextObject() as? String {
            names.append(files?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory ? name + "/" : name)
        }
        return names.sorted()
    }

    /// A rate limit, or a receiver without the capability, prevents files from being sent with
    /// their offers.
    @Test(.timeLimit(.minutes(5)), arguments: [(1, nil), (4, nil), (16, nil), (4, 1 << 30)] as [(Int, Int?)])
    func aFolderArrives(maximumConcurrentFiles: Int, bytesPerSecond: Int?) async throws {
        let folders = try Folders()
        let manager = FileManager.default
        try manager.createDirectory(atPath: folders.source + "/album/deep/empty", withIntermediateDirectories: true)
        for number in 0..<20 { _ = try folders.write("album/\(number)", pattern(number * 1000)) }
        _ = try folders.write("album/deep/文.txt", pattern(300_000))
        try manager.createSymbolicLink(atPath: folders.source + "/album/link", withDestinationPath: "/etc/passwd")
        try manager.createSymbolicLink(atPath: folders.source + "/album/loop", withDestinationPath: "..")
        #expect(mkfifo(folders.source + "/album/pipe", 0o600) == 0)
        let events = Events([])
        try await withReceiver(folders) { port, _ in
            var configuration = FramedClientConfiguration()
            configuration.connection.fileBytesPerSecond = bytesPerSecond
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port, configuration: configuration)
            let sent = try await connection.send(
                folder: folders.source + "/album/", sending(events, maximumConcurrentFiles: maximumConcurrentFiles))
            await connection.close()
            #expect(sent.completed == 22 && sent.failed == 0 && sent.leftOut == 3)
            #expect(sent.completedBytes == 300_000 + 190_000)
        }
        #expect(
            tree(folders) == (["album/", "album/deep/", "album/deep/empty/", "album/deep/文.txt"] + (0..<20).map { "album/\($0)" }).sorted())
        #expect(folders.received("album/19") == Array(pattern(19_000).readableBytesView))
        let leftOut = events.withLockedValue { $0 }.compactMap { event -> String? in
            if case .leftOut(let why) = event.kind { "\(event.name) \(why)" } else { nil }
        }
        #expect(leftOut.sorted() == ["album/link link", "album/loop link", "album/pipe notAFile"])
        let counted = try await FramedConnection.count(files: [folders.source + "/album"])
        #expect(counted.files == 22 && counted.bytes == 490_000)
    }

    @Test(.timeLimit(.minutes(5))) func manySmallFilesArrive() async throws {
        let folders = try Folders()
        for number in 0..<300 { _ = try folders.write("\(number)", pattern(number * 60)) }
        let events = ReceivedEvents([])
        let own = Events([])
        try await withReceiver(folders, recognizesFinished: true, events: events) { _, connection in
            let sent = try await connection.send(folder: folders.source, sending(own))
            #expect(sent.completed == 300)
            #expect(try await connection.send(folder: folders.source).completed == 300)
        }
        for number in 0..<300 { #expect(folders.received("source/\(number)") == Array(pattern(number * 60).readableBytesView)) }
        #expect(tree(folders).count == 301)
        // The events of one file at both sides; the receiver also reports the second transfer.
        let receivedKinds = events.withLockedValue { $0 }.filter { $0.offeredName.description == "source/100" }.map(\.kind)
        let name = "source/100"
        #expect(receivedKinds == [.began(offset: 0), .completed(name: name), .began(offset: 6000), .completed(name: name)])
        let sentKinds = own.withLockedValue { $0 }.filter { $0.name == name }.map(\.kind)
        #expect(sentKinds == [.offered, .began(offset: 0), .progress(durableBytes: 6000), .completed])
    }

    /// One file is busy for longer than `busyTimeout`.
    @Test(.timeLimit(.minutes(5))) func aFileThatIsBusyDoesNotStopTheRest() async throws {
        let folders = try Folders()
        for name in ["a", "b"] { _ = try folders.write(name, pattern(10)) }
        let busy = try OutgoingSource(path: folders.source + "/a", name: SafeFileName("source/a")).open(whole: true).offer
        let folder = try ReceivingFolder(path: folders.target)
        try folder.leases.withLockedValue { try $0.admit(busy, session: 0, existing: 0, stored: 0, free: .max) }
        var configuration = FramedServerConfiguration()
        configuration.connection.receiving = FileReceiving(into: folder)
        var sending = FileSending()
        sending.busyTimeout = .zero
        let (patience, source) = (sending, folders.source)
        try await withServer(echoServer(configuration)) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let sent = try await connection.send(folder: source, patience)
            #expect(sent.completed == 1 && sent.failed == 1)
            await connection.close()
        }
        #expect(tree(folders) == ["source/", "source/b"])
    }

    @Test(.timeLimit(.minutes(5))) func aListIsCancelledWithItsTaskOrConnection() async throws {
        let folders = try Folders()
        for number in 0..<100 { _ = try folders.write("\(number)", pattern(100)) }
        _ = try folders.write("large", pattern(50_000_000))
        try await withReceiver(folders) { _, connection in
            // Cancels the task from an event of the first completed file, while other transfers are
            // active.
            let task = NIOLockedValueBox<Task<SentFiles, any Error>?>(nil)
            let isKnown = ConditionLock(value: false)
            var sending = FileSending { event in if event.kind == .completed { task.withLockedValue { $0?.cancel() } } }
            sending.skips = { _ in
                isKnown.lock(whenValue: true)
                isKnown.unlock()
                return false
            }
            let (waiting, source) = (sending, folders.source)
            let new = Task { try await connection.send(folder: source, waiting) }
            task.withLockedValue { $0 = new }
            isKnown.lock()
            isKnown.unlock(withValue: true)
            await #expect(throws: CancellationError.self) { try await new.value }
            // The connection stays open. Its end also ends a list.
            let ending = FileSending { event in if event.kind == .completed { connection.abort() } }
            await #expect(throws: FramedError.self) { try await connection.send(folder: folders.source, ending) }
        }
        #expect(folders.received("source/large") == nil)
    }

    @Test(.timeLimit(.minutes(5))) func anUnreadableFileDoesNotStopTheOthers() async throws {
        let folders = try Folders()
        for name in ["a", "b\u{1b}[31m", "c"] { _ = try folders.write(name, pattern(10)) }
        try FileManager.default.createDirectory(
            atPath: folders.source + (0..<40).map { "/\($0)" }.joined(), withIntermediateDirectories: true)
        let events = Events([])
        try await withReceiver(folders) { _, connection in
            let sent = try await connection.send(files: [folders.source, folders.path + "/none"], sending(events))
            #expect(sent.completed == 2 && sent.failed == 3)
        }
        let codes = events.withLockedValue { $0 }.compactMap { event -> TransferError.Code? in
            if case .failed(let error) = event.kind { error.code } else { nil }
        }
        #expect(codes.map(\.rawValue).sorted() == ["name-refused", "name-refused", "source"])
        #expect(folders.received("source/c")?.count == 10)
    }

    @Test(.timeLimit(.minutes(5))) func existingFilesAreNotSentAgain() async throws {
        let folders = try Folders()
        for name in ["a", "b"] { _ = try folders.write(name, pattern(1_500_000)) }
        _ = try folders.write("nothing", pattern(0))
        let events = ReceivedEvents([])
        try await withReceiver(folders, recognizesFinished: true, events: events) { _, connection in
            try await connection.send(folder: folders.source)
            // The same size with another content is a different file.
            _ = try folders.write("b", ByteBuffer(repeating: 7, count: 1_500_000))
            try await connection.send(folder: folders.source)
            try await connection.send(folder: folders.source)
        }
        #expect(tree(folders) == ["source/", "source/a", "source/b", "source/b (2)", "source/nothing"])
        #expect(folders.received("source/b") == Array(pattern(1_500_000).readableBytesView))
        let begun = events.withLockedValue { $0 }.filter { $0.offeredName.description == "source/a" }.compactMap { event -> Int? in
            if case .began(let offset) = event.kind { offset } else { nil }
        }
        #expect(begun == [0, 1_500_000, 1_500_000])
    }

    @Test(.timeLimit(.minutes(5))) func existingFilesNeedNoSpace() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(100))
        var limits = TransferLimits()
        limits.totalBytes = 150
        try await withReceiver(folders, limits: limits, recognizesFinished: true) { _, connection in
            try await connection.send(file: path)
            try await connection.send(file: path)
            #expect(await transferCode { try await connection.send(file: path, as: "b") } == .quota)
        }
        #expect(tree(folders) == ["a"])
    }

    @Test(.timeLimit(.minutes(5))) func theReceiverMayRefuse() async throws {
        let folders = try Folders()
        for name in ["a.txt", "b.exe"] { _ = try folders.write(name, pattern(10)) }
        try await withReceiver(
            folders, refuses: { _, name, _ in name.description.hasSuffix(".exe") ? TransferError(.refused, message: "no programs") : nil }
        ) { _, connection in
            let code = await transferCode { try await connection.send(file: folders.source + "/b.exe") }
            #expect(code == .refused)
            let sent = try await connection.send(folder: folders.source)
            #expect(sent.completed == 1 && sent.failed == 1)
        }
        #expect(tree(folders) == ["source/", "source/a.txt"])
    }

    @Test(.timeLimit(.minutes(5))) func theReceiverMayGiveUp() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(30_000_000))
        let givenUp = NIOLockedValueBox(false)
        try await withReceiver(
            folders,
            refuses: { connection, _, _ in
                connection.eventLoop.scheduleTask(in: .milliseconds(20)) {
                    if !givenUp.withLockedValue({ exchange(&$0, with: true) }) { connection.cancelTransfers() }
                }
                return nil
            }
        ) { _, connection in
            let code = await transferCode { try await connection.send(file: path) }
            #expect(code == .cancelled || code == nil)  // `nil`: the file was already sent
            // The disk work releases the lease shortly afterwards.
            while await transferCode({ try await connection.send(file: path) }) == .busy {}
        }
        #expect(folders.received("a")?.count == 30_000_000)
    }

    @Test(.timeLimit(.minutes(5))) func aRateIsNotExceeded() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(600_000))
        try await withReceiver(folders) { port, _ in
            var configuration = FramedClientConfiguration()
            configuration.connection.fileBytesPerSecond = 1_000_000
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port, configuration: configuration)
            // The bucket holds an eighth of a second, and the last chunk may overdraw it: at least
            // 350,000 bytes are delayed.
            let time = try await ContinuousClock().measure { try await connection.send(file: path) }
            #expect(time > .milliseconds(340))
            await connection.close()
        }
        #expect(folders.received("a")?.count == 600_000)
        var configuration = FramedClientConfiguration()
        configuration.connection.fileBytesPerSecond = 0
        let error = await code { _ = try await FramedClient.connect(host: "127.0.0.1", port: 1, configuration: configuration) }
        #expect(error == .invalidConfiguration)
    }
}

private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
    defer { value = new }
    return value
}
