@testable import ApusFramedSocket
import Foundation
import NIOCore
import Testing

/// Work for the disk of several transfers in one visit.
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
            [
                DiskWork.prepare(
                    offer, in: self.folder, session: 1, hasLease: false, old: nil, recognizesFinished: recognizesFinished)
            ]
        }
        return DiskWork.perform(works).compactMap { outcome in
            if case .prepared(let part)? = outcome.reports.first { part } else { nil }
        }
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

    @Test func oneThatFailsStopsItsOwnListOnly() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let finished = try TransferOffer(id: "finished", name: SafeFileName("old"), size: 2)
        try Data([7, 7]).write(to: URL(fileURLWithPath: self.path + "/old"))
        let other = try TransferOffer(id: "other", name: SafeFileName("new"), size: 1)
        let parts = self.prepare([finished, other], recognizesFinished: true)
        #expect(parts.map(\.size) == [2, 0])
        let outcomes = DiskWork.perform([
            // Not to be written to: the file stands there already.
            self.write([1], to: parts[0], as: finished, hash: try self.hash([7, 7])),
            self.write([5], to: parts[1], as: other, hash: try self.hash([5])),
        ])
        #expect(outcomes[0].failure?.code == .storage && outcomes[0].reports.isEmpty)
        #expect(outcomes[1].failure == nil && self.bytes("new") == [5])
        #expect(self.bytes("old") == [7, 7])
    }

    @Test func anotherHashGivesNoName() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let offer = try TransferOffer(id: "x", name: SafeFileName("x"), size: 1)
        let parts = self.prepare([offer])
        let outcomes = DiskWork.perform([self.write([1], to: parts[0], as: offer, hash: try self.hash([2]))])
        guard case .finished(name: nil)? = outcomes[0].reports.last else {
            Issue.record("it got a name")
            return
        }
        #expect(self.bytes("x") == nil)
    }
}
