import ApusFramedProtocol
@testable import ApusFramedSocket
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Tests of disk work for several transfers in one batch.
@Suite struct DiskWorkTests {
    private let path: String
    private let folder: ReceivingFolder

    init() throws {
        self.path = NSTemporaryDirectory() + "apus-disk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        self.folder = try ReceivingFolder(path: self.path)
    }

    private func bytes(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: self.path + "/" + name).map(Array.init) }

    private func prepare(_ offers: [TransferOffer], recognizesFinished: Bool = false) -> [PartFile] {
        let works = offers.map { offer in
            [DiskWork.prepare(offer, in: self.folder, session: 1, hasLease: false, recognizesFinished: recognizesFinished)]
        }
        return DiskWork.perform(works).compactMap { outcome in
            if case .prepared(let part?, offset: 0)? = outcome.reports.first { part } else { nil }
        }
    }

    /// Prepares and compares an offer whose name exists, with the hash of the given bytes.
    private func compare(_ offer: TransferOffer, _ bytes: [UInt8]) throws -> (part: PartFile, isEqual: Bool) {
        let shown = PrefixProof(bytes: offer.size, sha256: try self.hash(bytes))
        let outcomes = DiskWork.perform([
            [
                .prepare(offer, in: self.folder, session: 1, hasLease: false, recognizesFinished: true),
                .compare(offer, shown, nil, in: self.folder),
            ]
        ])
        if let failure = outcomes[0].failure { throw failure }
        guard case .prepared(nil, offset: offer.size)? = outcomes[0].reports.first,
            case .compared(let part, let isEqual)? = outcomes[0].reports.last
        else { throw TransferError(.storage, message: "not compared: \(outcomes[0].reports)") }
        return (part, isEqual)
    }

    private func write(_ bytes: [UInt8], to part: PartFile, as offer: TransferOffer, hash: String) -> [DiskWork] {
        [
            .append([ByteBuffer(bytes: bytes)], count: bytes.count, to: part),
            .finish(part, as: offer, in: self.folder, sha256: hash, keepsAttributes: false),
        ]
    }

    private func hash(_ bytes: [UInt8]) throws -> String {
        let path = self.path + "/hashed"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try SourceFile(path: path, name: "x").wholeHash()
    }

    @Test func severalFilesGetTheirNamesInOneVisit() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let contents: [[UInt8]] = [[1], [2, 2], [3, 3, 3]]
        let offers = try contents.enumerated().map { number, bytes in
            try TransferOffer(id: "\(number)", name: SafeFileName("a/\(number % 2)/x"), size: bytes.count)
        }
        let parts = self.prepare(offers)
        #expect(parts.count == 3)
        let works = try (0..<3).map { self.write(contents[$0], to: parts[$0], as: offers[$0], hash: try self.hash(contents[$0])) }
        let outcomes = DiskWork.perform(works)
        #expect(outcomes.allSatisfy { $0.failure == nil && $0.reports.count == 2 })
        #expect(self.bytes("a/0/x") == [1] && self.bytes("a/1/x") == [2, 2] && self.bytes("a/0/x (2)") == [3, 3, 3])
    }

    @Test func aFailureStopsItsOwnListOnly() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let finished = try TransferOffer(id: "finished", name: SafeFileName("old"), size: 2)
        try Data([7, 7]).write(to: URL(fileURLWithPath: self.path + "/old"))
        let other = try TransferOffer(id: "other", name: SafeFileName("new"), size: 1)
        let old = try self.compare(finished, [7, 7])
        let parts = self.prepare([other], recognizesFinished: true)
        #expect(old.isEqual && old.part.size == 2 && parts.map(\.size) == [0])
        let outcomes = DiskWork.perform([
            // Refused: the part is a finished file.
            self.write([1], to: old.part, as: finished, hash: try self.hash([7, 7])),
            self.write([5], to: parts[0], as: other, hash: try self.hash([5])),
        ])
        #expect(outcomes[0].failure?.code == .storage && outcomes[0].reports.isEmpty)
        #expect(outcomes[1].failure == nil && self.bytes("new") == [5])
        #expect(self.bytes("old") == [7, 7])
    }

    /// After a failed write, later chunks are refused, even if the disk works again.
    @Test func aFailedWriteRefusesLaterChunks() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        try Data().write(to: URL(fileURLWithPath: self.path + "/part"))
        let folder = FileDescriptor(open(self.path, O_RDONLY | O_DIRECTORY))
        let descriptor = FileDescriptor(open(self.path + "/part", O_RDONLY))
        let part = PartFile(descriptor, name: "part", in: folder)
        #expect(throws: TransferError.self) { try part.append([ByteBuffer(bytes: [1])]) }
        let writable = FileDescriptor(open(self.path + "/part", O_RDWR))
        #expect(dup2(writable.number, descriptor.number) == descriptor.number)
        #expect(throws: TransferError.self) { try part.append([ByteBuffer(bytes: [2])]) }
        #expect(part.size == 0 && self.bytes("part") == [])
        try part.empty()
        try part.append([ByteBuffer(bytes: [3])])
        #expect(self.bytes("part") == [3])
    }

    @Test func anotherHashGivesNoName() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let offer = try TransferOffer(id: "x", name: SafeFileName("x"), size: 1)
        let parts = self.prepare([offer])
        let outcomes = DiskWork.perform([self.write([1], to: parts[0], as: offer, hash: try self.hash([2]))])
        guard case .finished(name: nil)? = outcomes[0].reports.last else {
            Issue.record("the file got a name")
            return
        }
        #expect(self.bytes("x") == nil)
    }

    // MARK: Existing files

    private func existing(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = self.path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600, .modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: path)
        return path
    }

    private func isUntouched(_ path: String, _ bytes: [UInt8]) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return attributes[.posixPermissions] as? Int == 0o600
            && attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_000_000_000)
            && FileManager.default.contents(atPath: path).map(Array.init) == bytes
    }

    private func harmful(_ id: String, _ size: Int, isWhole: Bool = false) throws -> TransferOffer {
        try TransferOffer(
            id: id, name: SafeFileName("x"), size: size, modified: 0, permissions: 0o777,
            wholeHash: isWhole ? String(repeating: "a", count: 64) : nil)
    }

    @Test func anExistingFileIsNotChanged() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let path = try self.existing("x", [1, 2, 3])
        // The same content.
        let same = try self.harmful("same", 3)
        let (part, isEqual) = try self.compare(same, [1, 2, 3])
        #expect(isEqual && part.finishedName == "x")
        let outcomes = DiskWork.perform([
            [.finish(part, as: same, in: self.folder, sha256: try self.hash([1, 2, 3]), keepsAttributes: true)]
        ])
        guard case .finished(name: "x")? = outcomes[0].reports.last else {
            Issue.record("\(outcomes)")
            return
        }
        // Sent with their offers: the same content, and another content of the same size.
        _ = try self.take([(self.harmful("whole", 3, isWhole: true), [1, 2, 3])], keepsAttributes: true, recognizesFinished: true)
        _ = try self.take([(self.harmful("other", 3, isWhole: true), [4, 5, 6])], keepsAttributes: true, recognizesFinished: true)
        #expect(try self.isUntouched(path, [1, 2, 3]))
    }

    /// The first answer is independent of the offered size.
    @Test(arguments: [1, 3, 4, 1000]) func theSizeOfAnExistingFileIsNotDisclosed(size: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let path = try self.existing("x", [1, 2, 3])
        let (part, isEqual) = try self.compare(self.harmful("guess", size), [9])
        #expect(!isEqual && part.finishedName == nil && part.size == 0)
        #expect(try self.isUntouched(path, [1, 2, 3]))
    }

    @Test func anOlderFileOfTheNameIsFoundToo() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        for (name, byte) in [("x", UInt8(1)), ("x (2)", 2), ("x (3)", 3)] { _ = try self.existing(name, [byte, byte]) }
        for (id, byte, name) in [("a", UInt8(1), "x"), ("b", 2, "x (2)"), ("c", 3, "x (3)")] {
            let found = try self.compare(self.harmful(id, 2), [byte, byte])
            #expect(found.isEqual && found.part.finishedName == name)
        }
    }

    @Test func anEmptyFileIsFoundAtOnce() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        _ = try self.existing("x", [])
        #expect(try self.prepare([self.harmful("a", 0)], recognizesFinished: true).first?.finishedName == "x")
    }

    /// An existing file needs no space; a different file of that name does.
    @Test func anotherFileNeedsRoom() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        _ = try self.existing("x", [1, 2, 3])
        var limits = TransferLimits()
        limits.totalBytes = 5
        let folder = try ReceivingFolder(path: self.path, limits: limits)
        for (bytes, expected) in [([1, 2, 3], nil), ([1, 2, 4], .quota)] as [([UInt8], TransferError.Code?)] {
            let offer = try self.harmful("\(bytes)", 3)
            let shown = PrefixProof(bytes: 3, sha256: try self.hash(bytes))
            let outcomes = DiskWork.perform([
                [
                    .prepare(offer, in: folder, session: 1, hasLease: false, recognizesFinished: true),
                    .compare(offer, shown, nil, in: folder),
                ]
            ])
            #expect(outcomes[0].failure?.code == expected)
        }
        #expect(self.names == ["x"])
    }

    @Test func onlyAnEmptyPartIsRemoved() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        for bytes in [[], [1]] as [[UInt8]] {
            let offer = try TransferOffer(id: "x", name: SafeFileName("x"), size: 2)
            let part = try self.folder.openPart(offer)
            try part.append([ByteBuffer(bytes: bytes)])
            _ = DiskWork.perform([[.discardIfEmpty(part, in: self.folder)]])
            #expect(self.names == (bytes.isEmpty ? [] : [offer.partName]))
            part.unlock()
        }
        // The file is not hashed yet, but contains a byte.
        let part = try self.folder.openPart(TransferOffer(id: "x", name: SafeFileName("x"), size: 2))
        _ = DiskWork.perform([[.discardIfEmpty(part, in: self.folder)]])
        #expect(self.names.count == 1)
    }

    // MARK: Whole files

    private func take(
        _ offers: [(TransferOffer, [UInt8])], hash: String? = nil, keepsAttributes: Bool = false, recognizesFinished: Bool = false
    ) throws -> [DiskWork.Outcome] {
        let habits = FileReceiving.Habits(keepsAttributes: keepsAttributes, recognizesFinished: recognizesFinished)
        return DiskWork.perform(
            try offers.map { offer, bytes in
                let sha256 = try hash ?? self.hash(bytes)
                return [.take(offer, [ByteBuffer(bytes: bytes)], sha256: sha256, in: self.folder, session: 1, habits)]
            })
    }

    private func whole(_ id: String, _ name: String, _ size: Int, modified: Int64? = nil) throws -> TransferOffer {
        try TransferOffer(id: id, name: SafeFileName(name), size: size, modified: modified, wholeHash: String(repeating: "a", count: 64))
    }

    private func name(_ outcome: DiskWork.Outcome) -> String? {
        if case .taken(let name, _)? = outcome.reports.first { name } else { nil }
    }

    private var leases: Int { self.folder.leases.withLockedValue { $0.leaseCount } }

    private var names: [String] {
        (FileManager.default.enumerator(atPath: self.path)?.compactMap { $0 as? String } ?? []).sorted()
    }

    @Test func wholeFilesAreTakenInOneGo() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let outcomes = try self.take([
            (self.whole("1", "a/b/x", 2), [1, 1]), (self.whole("2", "a/b/x", 3), [2, 2, 2]), (self.whole("3", "y", 0), []),
        ])
        guard case .taken? = outcomes[0].reports.first else { return }  // unnamed files are not supported here
        #expect(outcomes.map(self.name) == ["a/b/x", "a/b/x (2)", "y"] && self.leases == 3)
        #expect(self.bytes("a/b/x") == [1, 1] && self.bytes("a/b/x (2)") == [2, 2, 2] && self.bytes("y") == [])
        #expect(self.names == ["a", "a/b", "a/b/x", "a/b/x (2)", "y"])
    }

    @Test func aRefusedWholeFileLeavesNothing() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        try Data([1]).write(to: URL(fileURLWithPath: self.path + "/file"))
        let wrong = try self.take([(self.whole("1", "x", 1), [1])], hash: String(repeating: "b", count: 64))
        guard case .taken(name: nil, had: 0)? = wrong[0].reports.first else { return }  // unnamed files are not supported here
        // The parent folder is a file. The lease is released as well.
        let blocked = try self.take([(self.whole("2", "file/x", 1), [1])])
        #expect(blocked[0].failure?.code == .storage && self.leases == 1)
        // The same upload twice concurrently.
        let busy = try self.take([(self.whole("1", "x", 1), [1])])
        #expect(busy[0].failure?.code == .busy && self.leases == 1)
        #expect(self.names == ["file"])
    }

    @Test func aWholeFileWithExistingBytesIsDeclined() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let offer = try self.whole("1", "x", 2)
        try Data([1]).write(to: URL(fileURLWithPath: self.path + "/" + offer.partName))
        let outcomes = try self.take([(offer, [1, 1])])
        guard case .declined? = outcomes[0].reports.first else {
            Issue.record("the file was stored despite existing bytes")
            return
        }
        #expect(self.names == [offer.partName] && self.leases == 1)
    }

    @Test func aWholeFileIsRecognized() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        try Data([1, 1]).write(to: URL(fileURLWithPath: self.path + "/x"))
        let same = try self.take([(self.whole("1", "x", 2), [1, 1])], recognizesFinished: true)
        guard case .taken(name: "x", had: 2)? = same[0].reports.first else {
            Issue.record("the file was not recognized")
            return
        }
        let other = try self.take([(self.whole("2", "x", 2), [2, 2])], recognizesFinished: true)
        if case .declined? = other[0].reports.first { return }  // unnamed files are not supported here
        #expect(self.name(other[0]) == "x (2)" && self.bytes("x") == [1, 1] && self.bytes("x (2)") == [2, 2])
    }

    @Test func aWholeFileKeepsItsTime() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let outcomes = try self.take([(self.whole("1", "x", 1, modified: 1_000_000_000), [1])], keepsAttributes: true)
        if case .declined? = outcomes[0].reports.first { return }  // unnamed files are not supported here
        let date = try FileManager.default.attributesOfItem(atPath: self.path + "/x")[.modificationDate] as? Date
        #expect(date == Date(timeIntervalSince1970: 1))
    }
}
