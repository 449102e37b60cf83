import ApusFramedProtocol
import ApusJSON
import Testing

private let chunk = TransferChunk.maximumBytes

func offer(_ size: Int, shown: PrefixProof? = nil) throws -> TransferOffer {
    try TransferOffer(id: "x", name: SafeFileName("a.txt"), size: size, shown: shown)
}

extension TransferOutcome {
    var code: TransferError.Code? { if case .failed(let error) = self { error.code } else { nil } }
}

extension [TransferSender.Action] {
    /// The code of the failure in the actions.
    var failure: TransferError.Code? { if case .end(let outcome)? = self.last { outcome.code } else { nil } }
}

@Suite struct TransferSenderTests {
    private func head(_ type: FrameType, _ header: JSONObject = [:]) -> FrameHead { FrameHead(type, stream: 3, header: header) }

    /// Returns a sender whose offer was accepted at offset 0.
    private func sending(_ size: Int, _ settings: TransferSettings = .init()) throws -> TransferSender {
        var sender = TransferSender(try offer(size), stream: 3, settings: settings)
        #expect(try sender.start(at: .zero) == [.send(offer(size).head(stream: 3))])
        #expect(sender.next() == .wait)
        #expect(sender.receivedHead(self.head(.accept, ["offset": 0]), at: .zero) == [.progress(durable: 0)])
        return sender
    }

    @Test func aFileIsSentInChunksWithinTheWindow() throws {
        var settings = TransferSettings()
        settings.window = 2 * chunk + 10
        let size = 3 * chunk
        var sender = try self.sending(size, settings)
        #expect(sender.next() == .chunk(offset: 0, count: chunk))
        #expect(sender.next() == .chunk(offset: chunk, count: chunk))
        #expect(sender.next() == .chunk(offset: 2 * chunk, count: 10))
        #expect(sender.next() == .wait)
        #expect(sender.receivedHead(self.head(.ack, ["offset": JSONValue(chunk)]), at: .zero) == [.progress(durable: chunk)])
        #expect(sender.next() == .chunk(offset: 2 * chunk + 10, count: chunk - 10))
        #expect(sender.next() == .hash)
        #expect(sender.hashed("ab", at: .zero) == [.send(self.head(.done, ["sha256": "ab"]))])
        #expect(sender.next() == .wait)
        #expect(sender.receivedHead(self.head(.ack, ["offset": JSONValue(size)]), at: .zero) == [.progress(durable: size)])
        #expect(sender.receivedHead(self.head(.complete), at: .zero) == [.progress(durable: size), .end(.completed)])
        #expect(sender.hasEnded)
    }

    @Test func anEmptyFileHasNoChunks() throws {
        var sender = try self.sending(0)
        #expect(sender.next() == .hash)
        #expect(sender.hashed("e3", at: .zero).count == 1)
        #expect(sender.receivedHead(self.head(.complete), at: .zero).last == .end(.completed))
    }

    @Test func itResumesWhereTheReceiverHasTheSameBytes() throws {
        var sender = TransferSender(try offer(100), stream: 3)
        _ = sender.start(at: .zero)
        #expect(sender.receivedHead(self.head(.accept, ["offset": 60]), at: .zero) == [.hashPrefix(length: 60)])
        #expect(sender.next() == .wait)
        let shown = try offer(100, shown: PrefixProof(bytes: 60, sha256: Self.hash))
        #expect(sender.prefixHashed(Self.hash, at: .zero) == [.send(shown.head(stream: 3))])
        #expect(sender.next() == .wait)
        #expect(sender.receivedHead(self.head(.accept, ["offset": 60]), at: .zero) == [.progress(durable: 60)])
        #expect(sender.next() == .chunk(offset: 60, count: 40))
    }

    @Test func itBeginsAnewWhereTheReceiverHasSomethingElse() throws {
        var sender = TransferSender(try offer(100), stream: 3)
        _ = sender.start(at: .zero)
        _ = sender.receivedHead(self.head(.accept, ["offset": 60]), at: .zero)
        #expect(sender.prefixHashed(Self.hash, at: .zero).count == 1)
        #expect(sender.prefixHashed(Self.hash, at: .zero).isEmpty)
        var other = sender
        #expect(sender.receivedHead(self.head(.accept, ["offset": 0]), at: .zero) == [.progress(durable: 0)])
        #expect(sender.next() == .chunk(offset: 0, count: 100))
        // Only the hash of 60 bytes was sent.
        #expect(other.receivedHead(self.head(.accept, ["offset": 59]), at: .zero).failure == .protocolViolation)
    }

    @Test func allBytesMayBeThereAlready() throws {
        var sender = TransferSender(try offer(100), stream: 3)
        _ = sender.start(at: .zero)
        _ = sender.receivedHead(self.head(.accept, ["offset": 100]), at: .zero)
        _ = sender.prefixHashed(Self.hash, at: .zero)
        _ = sender.receivedHead(self.head(.accept, ["offset": 100]), at: .zero)
        #expect(sender.next() == .hash)
    }

    @Test func aDamagedRangeIsSentAgain() throws {
        var sender = try self.sending(3 * chunk)
        for _ in 0..<3 { _ = sender.next() }
        #expect(
            sender.receivedHead(self.head(.ack, ["offset": 0, "again": JSONValue(chunk)]), at: .zero) == [
                .send(self.head(.data, ["from": JSONValue(chunk)]))
            ])
        #expect(sender.next() == .chunk(offset: chunk, count: chunk))
        #expect(sender.next() == .chunk(offset: 2 * chunk, count: chunk))
        #expect(sender.next() == .hash)
        _ = sender.hashed("ab", at: .zero)
        // A resend can also be requested after the end of the data.
        #expect(sender.receivedHead(self.head(.ack, ["offset": JSONValue(chunk), "again": JSONValue(2 * chunk)]), at: .zero).count == 2)
        #expect(sender.next() == .chunk(offset: 2 * chunk, count: chunk))
        #expect(sender.next() == .hash)
        #expect(sender.hashed("ab", at: .zero).count == 1)
    }

    @Test func itIsNotSentAgainForever() throws {
        var sender = try self.sending(chunk)
        for _ in 0..<16 {
            _ = sender.next()
            #expect(sender.receivedHead(self.head(.ack, ["offset": 0, "again": 0]), at: .zero).count == 1)
        }
        _ = sender.next()
        #expect(sender.receivedHead(self.head(.ack, ["offset": 0, "again": 0]), at: .zero).failure == .corrupted)
    }

    @Test(
        arguments: [
            ["offset": 101], ["offset": -1], ["offset": 1.5], ["offset": "1"], [:], ["offset": 0, "again": 101],
            ["offset": 50, "again": 40],
            ["offset": 0, "again": "x"], ["offset": 0, "again": 100],
        ] as [JSONObject])
    func anAcknowledgementCoversSentBytesOnly(header: JSONObject) throws {
        var sender = try self.sending(100)
        _ = sender.next()
        let actions = sender.receivedHead(self.head(.ack, header), at: .zero)
        #expect(actions.failure == .protocolViolation)
        guard case .send(let head)? = actions.first else {
            Issue.record("no frame was sent to the receiver")
            return
        }
        #expect(head.type == .error && head.header["code"] == "protocol-violation")
    }

    @Test(arguments: [["offset": 101], ["offset": -1], [:], ["offset": 2.5]] as [JSONObject])
    func anOfferIsAcceptedAtAnOffset(header: JSONObject) throws {
        var sender = TransferSender(try offer(100), stream: 3)
        _ = sender.start(at: .zero)
        #expect(sender.receivedHead(self.head(.accept, header), at: .zero).failure == .protocolViolation)
    }

    @Test func acknowledgementsOnlyMoveForward() throws {
        var sender = try self.sending(100)
        _ = sender.next()
        _ = sender.receivedHead(self.head(.ack, ["offset": 50]), at: .zero)
        #expect(sender.receivedHead(self.head(.ack, ["offset": 50]), at: .zero).isEmpty)
        #expect(sender.receivedHead(self.head(.ack, ["offset": 49]), at: .zero).failure == .protocolViolation)
    }

    // MARK: Closing

    @Test func aCancellationIsConfirmed() throws {
        var sender = try self.sending(100)
        #expect(sender.cancel(at: .zero) == [.send(self.head(.cancel))])
        #expect(sender.cancel(at: .zero).isEmpty)
        #expect(sender.next() == .wait)
        #expect(sender.receivedHead(self.head(.ack, ["offset": 0]), at: .zero).isEmpty)  // sent before the cancellation arrived
        #expect(sender.receivedHead(self.head(.cancelled), at: .zero).failure == .cancelled)
        var silent = try self.sending(100)
        _ = silent.cancel(at: .zero)
        #expect(silent.ticked(at: .seconds(4)).isEmpty)
        #expect(silent.ticked(at: .seconds(5)).failure == .cancelled)
        var early = TransferSender(try offer(1), stream: 3)
        #expect(early.cancel(at: .zero).failure == .cancelled)
    }

    /// The file got its name before the cancellation arrived.
    @Test func aCancellationMayComeTooLate() throws {
        var sender = try self.sending(0)
        _ = sender.hashed("x", at: .zero)
        _ = sender.cancel(at: .zero)
        #expect(sender.receivedHead(self.head(.complete), at: .zero).last == .end(.completed))
    }

    @Test func theReceiverCancels() throws {
        var sender = try self.sending(100)
        let actions = sender.receivedHead(self.head(.cancel), at: .zero)
        #expect(actions.first == .send(self.head(.cancelled)))
        #expect(actions.failure == .cancelled)
        #expect(sender.receivedHead(self.head(.cancel), at: .zero).isEmpty)
    }

    @Test func theReceiversErrorIsTheOutcome() throws {
        var sender = try self.sending(100)
        let actions = sender.receivedHead(self.head(.error, ["code": "disk-full", "message": "no\nroom"]), at: .zero)
        #expect(actions == [.end(.failed(TransferError(.diskFull, message: "the other side reported: no room")))])
        var strange = try self.sending(100)
        #expect(strange.receivedHead(self.head(.error, ["code": "\u{1B}[2J"]), at: .zero).failure == .protocolViolation)
    }

    @Test func theSourceFails() throws {
        var sender = try self.sending(100)
        let error = TransferError(.source, message: "the file got shorter")
        #expect(sender.sourceFailed(error) == [.send(error.head(stream: 3)), .end(.failed(error))])
        #expect(sender.sourceFailed(error).isEmpty)
    }

    @Test func framesAtTheWrongTimeEndIt() throws {
        for type in [FrameType.complete, .done, .offer, .accept, .cancelled] {
            var sender = try self.sending(100)
            #expect(sender.receivedHead(self.head(type), at: .zero).failure == .protocolViolation)
        }
    }

    @Test func everyWaitHasADeadline() throws {
        var offered = TransferSender(try offer(100), stream: 3)
        _ = offered.start(at: .seconds(10))
        #expect(offered.ticked(at: .seconds(39)).isEmpty)
        #expect(offered.ticked(at: .seconds(40)).failure == .timeout)
        var large = TransferSender(try offer(100 << 24), stream: 3)
        _ = large.start(at: .zero)
        #expect(large.ticked(at: .seconds(129)).isEmpty)  // the receiver may have to hash existing bytes
        #expect(large.ticked(at: .seconds(130)).failure == .timeout)
        var showing = TransferSender(try offer(100 << 24), stream: 3)
        _ = showing.start(at: .zero)
        _ = showing.receivedHead(self.head(.accept, ["offset": JSONValue(50 << 24)]), at: .zero)
        #expect(showing.ticked(at: .seconds(1000)).isEmpty)  // the sender must act: it hashes
        _ = showing.prefixHashed(Self.hash, at: .seconds(1000))
        #expect(showing.ticked(at: .seconds(1079)).isEmpty)
        #expect(showing.ticked(at: .seconds(1080)).failure == .timeout)
        var sender = try self.sending(100)
        #expect(sender.ticked(at: .seconds(1000)).isEmpty)  // the sender must act: nothing was sent yet
        _ = sender.next()
        #expect(sender.ticked(at: .seconds(1029)).isEmpty)
        #expect(sender.receivedHead(self.head(.ack, ["offset": 10]), at: .seconds(1029)).count == 1)
        #expect(sender.ticked(at: .seconds(1058)).isEmpty)
        #expect(sender.ticked(at: .seconds(1059)).failure == .timeout)
        var finishing = try self.sending(0)
        _ = finishing.hashed("x", at: .zero)
        #expect(finishing.ticked(at: .seconds(30)).failure == .timeout)
    }

    @Test func theConnectionEnds() throws {
        var sender = try self.sending(100)
        #expect(sender.connectionEnded().failure == .interrupted)
        #expect(sender.connectionEnded().isEmpty)
    }

    // MARK: Whole files

    private static let hash = String(repeating: "a", count: 64)

    private func whole(_ size: Int) throws -> TransferSender {
        var sender = TransferSender(
            try TransferOffer(id: "x", name: SafeFileName("a.txt"), size: size, wholeHash: Self.hash), stream: 3)
        sender.startWhole(at: .zero)
        #expect(sender.next() == .wait)
        return sender
    }

    @Test(arguments: [([:], 0), (["offset": 100], 100), (["offset": 101], 100), (["offset": -1], 0)] as [(JSONObject, Int)])
    func aWholeFileIsAnsweredOnce(header: JSONObject, had: Int) throws {
        var sender = try self.whole(100)
        #expect(
            sender.receivedHead(self.head(.complete, header), at: .zero) == [
                .progress(durable: had), .progress(durable: 100), .end(.completed),
            ])
        #expect(sender.receivedHead(self.head(.complete), at: .zero).isEmpty)
    }

    @Test func aWholeFileThatIsNotStoredInOneStepIsSentInChunks() throws {
        var sender = try self.whole(100)
        #expect(sender.receivedHead(self.head(.accept, ["offset": 60]), at: .zero) == [.hashPrefix(length: 60)])
        // The repeated offer has no file either.
        let shown = try offer(100, shown: PrefixProof(bytes: 60, sha256: Self.hash))
        #expect(sender.prefixHashed(Self.hash, at: .zero) == [.send(shown.head(stream: 3))])
        #expect(sender.receivedHead(self.head(.complete), at: .zero).failure == .protocolViolation)
    }

    @Test func aWholeFileHasItsErrorsAndDeadlines() throws {
        var refused = try self.whole(100)
        #expect(refused.receivedHead(self.head(.error, ["code": "quota", "message": "no"]), at: .zero).failure == .quota)
        var late = try self.whole(100)
        #expect(late.ticked(at: .seconds(29)).isEmpty)
        #expect(late.ticked(at: .seconds(30)).failure == .timeout)
        var tooLate = try self.whole(100)
        #expect(tooLate.cancel(at: .zero) == [.send(self.head(.cancel))])
        #expect(tooLate.receivedHead(self.head(.complete), at: .zero).last == .end(.completed))
        var gone = try self.whole(100)
        #expect(gone.connectionEnded().failure == .interrupted)
    }

    @Test func onlyAWholeFileIsCompleteWithoutAnAccept() throws {
        var sender = TransferSender(try offer(100), stream: 3)
        _ = sender.start(at: .zero)
        #expect(sender.receivedHead(self.head(.complete), at: .zero).failure == .protocolViolation)
    }
}
