import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Tests of file transfers over the loopback.
@Suite struct FileTransferTests {
    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 262_144, 5_000_001])
    func aFileArrives(count: Int) async throws {
        let folders = try Folders()
        let path = try folders.write("图.bin", pattern(count))
        let events = ReceivedEvents([])
        try await withReceiver(folders, events: events) { _, connection in
            let durable = NIOLockedValueBox(0)
            try await connection.send(file: path) { progress in durable.withLockedValue { $0 = progress.sentBytes } }
            #expect(durable.withLockedValue { $0 } == count)
        }
        #expect(folders.received("图.bin") == Array(pattern(count).readableBytesView))
        #expect(folders.names == ["图.bin"])
        let kinds = events.withLockedValue { $0.map(\.kind) }
        #expect(kinds.first == .began(offset: 0) && kinds.last == .completed(name: "图.bin"))
    }

    @Test(.timeLimit(.minutes(5))) func manyFilesAndMessagesAtOnce() async throws {
        let folders = try Folders()
        var paths: [String] = []
        for number in 0..<12 { paths.append(try folders.write("\(number)", pattern(1_000_000 + number))) }
        try await withReceiver(folders) { _, connection in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, path) in paths.enumerated() { group.addTask { try await connection.send(file: path, as: "many/\(number)") } }
                group.addTask {
                    var messages = connection.messages.makeAsyncIterator()
                    for number in Int64(0)..<20 {
                        try await connection.send(header: ["number": .integer(number)])
                        #expect(try await messages.next()?.header == ["number": .integer(number)])
                    }
                }
                try await group.waitForAll()
            }
        }
        for number in 0..<12 { #expect(folders.received("many/\(number)")?.count == 1_000_000 + number) }
        #expect(folders.names == ["many"])
    }

    @Test(.timeLimit(.minutes(5))) func attributesAreKeptWhenAsked() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(10))
        let date = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.posixPermissions: 0o640, .modificationDate: date], ofItemAtPath: path)
        try await withReceiver(folders, keepsAttributes: true) { _, connection in
            try await connection.send(file: path, keepsAttributes: true)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: folders.target + "/a")
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(attributes[.modificationDate] as? Date == date)
    }

    // MARK: Resumption

    /// Sends until a megabyte is durable, then aborts the connection.
    private func sendPart(_ path: String, port: Int) async throws {
        let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
        await #expect(throws: (any Error).self) {
            try await connection.send(file: path) { progress in
                if progress.sentBytes >= 1 << 20 { connection.abort() }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func itResumesWhereItStopped() async throws {
        let folders = try Folders()
        let bytes = pattern(20_000_000)
        let path = try folders.write("a", bytes)
        let events = ReceivedEvents([])
        try await withReceiver(folders, events: events) { port, connection in
            try await self.sendPart(path, port: port)
            // The lease of the first connection is held until its end has been detected.
            while await transferCode({ try await connection.send(file: path) }) == .busy {}
        }
        #expect(folders.received("a") == Array(bytes.readableBytesView))
        #expect(folders.names == ["a"])
        let offsets = events.withLockedValue { $0 }.compactMap { if case .began(let offset) = $0.kind { offset } else { nil } }
        #expect(offsets.count == 2 && offsets[0] == 0 && offsets[1] >= 1 << 20)
    }

    @Test(.timeLimit(.minutes(5))) func itBeginsAnewWhereTheBeginningIsNotTheSame() async throws {
        let folders = try Folders()
        let bytes = pattern(20_000_000)
        let path = try folders.write("a", bytes)
        try await withReceiver(folders) { port, _ in try await self.sendPart(path, port: port) }
        let part = try #require(folders.part)
        let handle = try #require(FileHandle(forWritingAtPath: folders.target + "/" + part))
        try handle.seek(toOffset: 1000)
        try handle.write(contentsOf: Data([1, 2, 3, 4]))
        try handle.close()
        try await withReceiver(folders) { _, connection in try await connection.send(file: path) }
        #expect(folders.received("a") == Array(bytes.readableBytesView))
        #expect(folders.names == ["a"])
    }

    @Test(.timeLimit(.minutes(5))) func anUploadHasOneWriter() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(30_000_000))
        try await withReceiver(folders) { port, connection in
            let began = AsyncStream.makeStream(of: Void.self)
            let first = Task { try await connection.send(file: path) { _ in began.continuation.yield() } }
            for await _ in began.stream { break }
            let second = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let code = await transferCode { try await second.send(file: path) }
            try await first.value
            #expect(code == .busy || code == nil)  // `nil`: the first transfer was already complete
            await second.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aCancellationLeavesTheConnectionOpen() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(40_000_000))
        try await withReceiver(folders) { _, connection in
            let began = AsyncStream.makeStream(of: Void.self)
            let sending = Task { try await connection.send(file: path) { _ in began.continuation.yield() } }
            for await _ in began.stream { break }
            sending.cancel()
            _ = await sending.result
            #expect(connection.closure == nil)
            let small = try folders.write("b", pattern(10))
            try await connection.send(file: small)
            var messages = connection.messages.makeAsyncIterator()
            try await connection.send(header: ["a": 1])
            #expect(try await messages.next()?.header == ["a": 1])
        }
        #expect(folders.received("b")?.count == 10)
    }

    /// A bye is the last frame: transfers end before it, and neither side reports a protocol
    /// violation.
    @Test(.timeLimit(.minutes(5))) func closingEndsMessagesInProgress() async throws {
        let folders = try Folders()
        let path = try folders.write("a", ByteBuffer())
        // A sparse file, too long to be sent before the close on a busy machine.
        try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: 3_000_000_000)
        let events = ReceivedEvents([])
        try await withReceiver(folders, events: events) { port, _ in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let began = AsyncStream.makeStream(of: Void.self)
            let sending = Task {
                try await connection.send(file: path) { if $0.sentBytes > 0 { began.continuation.yield() } }
            }
            for await _ in began.stream { break }
            #expect(await connection.close() == FramedClosure(initiator: .ourselves))
            #expect(await code { try await sending.value } == .closed)
        }
        guard case .failed(let error)? = events.withLockedValue({ $0.last?.kind }) else {
            Issue.record("the receiver did not report the end")
            return
        }
        #expect(error.code == .interrupted)
        #expect(folders.part != nil)
    }

    // MARK: Names (docs/hazards.md, 21)

    @Test(.timeLimit(.minutes(5))) func aNameThatIsTakenIsNotWrittenOver() async throws {
        let folders = try Folders()
        try await withReceiver(folders) { _, connection in
            for count in 1...3 { try await connection.send(file: folders.write("x\(count)", pattern(count)), as: "photo.jpg") }
        }
        #expect(folders.names == ["photo (2).jpg", "photo (3).jpg", "photo.jpg"])
        #expect(folders.received("photo.jpg")?.count == 1)
        #expect(folders.received("photo (3).jpg")?.count == 3)
    }

    @Test(.timeLimit(.minutes(5))) func noLinkLeadsOut() async throws {
        let folders = try Folders()
        let path = try folders.write("x", pattern(5))
        try FileManager.default.createSymbolicLink(atPath: folders.target + "/link", withDestinationPath: folders.source)
        try await withReceiver(folders) { _, connection in
            #expect(await transferCode { try await connection.send(file: path, as: "link/out") } == .storage)
            #expect(await transferCode { try await connection.send(file: path, as: "../out") } == .nameRefused)
            // The name exists as a link.
            try await connection.send(file: path, as: "link")
        }
        #expect(!FileManager.default.fileExists(atPath: folders.source + "/out"))
        #expect(folders.received("link (2)")?.count == 5)
    }

    // MARK: Limits

    @Test(.timeLimit(.minutes(5))) func quotasAreReported() async throws {
        let folders = try Folders()
        let path = try folders.write("x", pattern(101))
        var limits = TransferLimits()
        limits.fileBytes = 100
        try await withReceiver(folders, limits: limits) { _, connection in
            #expect(await transferCode { try await connection.send(file: path) } == .quota)
        }
        limits = TransferLimits()
        limits.reservedBytes = .max
        try await withReceiver(folders, limits: limits) { _, connection in
            #expect(await transferCode { try await connection.send(file: path) } == .diskFull)
        }
        limits = TransferLimits()
        limits.totalBytes = 150
        try await withReceiver(folders, limits: limits) { _, connection in
            try await connection.send(file: path)
            #expect(await transferCode { try await connection.send(file: path, as: "again") } == .quota)
        }
        #expect(folders.names == ["x"])
    }

    @Test(.timeLimit(.minutes(5))) func aPeerWithoutAFolderRefusesFiles() async throws {
        let folders = try Folders()
        let path = try folders.write("x", pattern(1))
        try await withServer(echoServer()) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            #expect(await transferCode { try await connection.send(file: path) } == .notSupported)
            await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aPathWithoutAFileIsAnErrorOfTheSender() async throws {
        let folders = try Folders()
        try await withReceiver(folders) { _, connection in
            #expect(await transferCode { try await connection.send(file: folders.source + "/none") } == .source)
            #expect(await transferCode { try await connection.send(file: folders.source) } == .source)
        }
        #expect(folders.names.isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func nothingIsLeftWhereNothingCame() async throws {
        let folders = try Folders()
        try await withReceiver(folders) { port, _ in
            let peer = try await RawPeer(port: port)
            for stream in [UInt16(1), 3] {
                try await peer.send(.offer, stream: stream, ["id": .string("\(stream)"), "name": "a", "size": 1_000_000_000])
                #expect(await peer.next()?.type == .accept)
            }
            #expect(folders.names.count == 2)
            try await peer.send(.cancel)
            #expect(await peer.next()?.type == .cancelled)
            await peer.close()
            while !folders.names.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func abandonedPartsAreRemoved() async throws {
        let folders = try Folders()
        let path = try folders.write("a", pattern(20_000_000))
        try await withReceiver(folders) { port, _ in try await self.sendPart(path, port: port) }
        #expect(folders.part != nil)
        let folder = try ReceivingFolder(path: folders.target)
        try #require(folder.removeAbandoned(at: Date().addingTimeInterval(6 * 24 * 3600)) == 0)
        // The last write may still hold the file and its lock.
        while folder.removeAbandoned(at: Date().addingTimeInterval(8 * 24 * 3600)) == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(folders.names.isEmpty)
    }
}
