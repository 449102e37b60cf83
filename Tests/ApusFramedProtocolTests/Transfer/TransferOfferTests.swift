import ApusFramedProtocol
import ApusJSON
import Testing

@Suite struct TransferOfferTests {
    @Test func anOfferRoundTrips() throws {
        for offer in [
            try TransferOffer(id: "x", name: SafeFileName("a/b.txt"), size: 7),
            try TransferOffer(id: "é", name: SafeFileName("b"), size: 0, modified: -5, permissions: 0o640),
            try TransferOffer(
                id: "x", name: SafeFileName("a"), size: 7, shown: PrefixProof(bytes: 7, sha256: String(repeating: "a", count: 64))),
            try TransferOffer(id: "x", name: SafeFileName("a/b"), size: 0, isFolder: true),
        ] {
            let head = offer.head(stream: 9)
            #expect(head.type == .offer && head.stream == 9 && head.bodyLength == 0)
            #expect(try TransferOffer(head.header) == offer)
        }
        // Including the bytes of the file.
        let hash = String(repeating: "a", count: 64)
        for (size, body) in [(0, 0), (7, 19), (WholeFile.maximumBytes, 12 + WholeFile.maximumBytes)] {
            let offer = try TransferOffer(id: "x", name: SafeFileName("a"), size: size, wholeHash: hash)
            #expect(offer.head(stream: 9).bodyLength == body)
            #expect(try TransferOffer(offer.head(stream: 9).header) == offer)
        }
        #expect(
            try TransferOffer(id: "x", name: SafeFileName("a"), size: 7).head(stream: 1).header == ["id": "x", "name": "a", "size": 7])
    }

    @Test(
        arguments: [
            ("id", nil), ("id", ""), ("id", 7), ("id", .string(String(repeating: "x", count: 129))), ("name", nil), ("name", 1),
            ("size", nil),
            ("size", -1), ("size", 1.5), ("size", "7"), ("modified", "x"), ("modified", 1.5), ("permissions", 0o1000), ("permissions", -1),
            ("permissions", "x"), ("sha256", 1), ("sha256", "aa"), ("shown", 1), ("shown", [:]), ("shown", ["bytes": 7]),
            ("shown", ["bytes": 7, "sha256": "aa"]), ("shown", ["bytes": 0, "sha256": .string(String(repeating: "a", count: 64))]),
            ("shown", ["bytes": 8, "sha256": .string(String(repeating: "a", count: 64))]),
        ] as [(String, JSONValue?)])
    func anOfferIsStrict(name: String, value: JSONValue?) throws {
        var header: JSONObject = ["id": "x", "name": "a", "size": 7, "later": [1]]
        _ = try TransferOffer(header)
        header[name] = value
        let broken = header
        #expect(throws: TransferError.self) { try TransferOffer(broken) }
    }

    @Test func onlyASmallFileIsSentWithItsOffer() {
        #expect(throws: TransferError.self) {
            try TransferOffer([
                "id": "x", "name": "a", "size": JSONValue(WholeFile.maximumBytes + 1), "sha256": .string(String(repeating: "a", count: 64)),
            ])
        }
    }

    @Test func aFolderHasNoBytes() {
        #expect(throws: TransferError.self) { try TransferOffer(["id": "x", "name": "a", "size": 1, "folder": true]) }
    }

    @Test func theUnfinishedFileHasAReservedName() throws {
        let names = try ["x", "../../x", "\0", "é"].map { try TransferOffer(id: $0, name: SafeFileName("a"), size: 1).partName }
        #expect(Set(names).count == 4)
        for name in names {
            #expect(name.utf8.count == 43 && name.hasPrefix(".apus-") && name.hasSuffix(".part"))
            #expect(name.dropFirst(6).dropLast(5).allSatisfy { $0.isHexDigit })
        }
        // The SHA-256 of "x", computed with sha256sum.
        #expect(names[0] == ".apus-2d711642b726b04401627ca9fbac32f5.part")
    }

    @Test func aNameIsCheckedAtOnce() {
        #expect {
            _ = try TransferOffer(["id": "x", "name": "../a", "size": 7])
        } throws: { error in
            (error as? TransferError)?.code == .nameRefused
        }
    }
}
