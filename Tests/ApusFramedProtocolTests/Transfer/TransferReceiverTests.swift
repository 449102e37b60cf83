import ApusFramedProtocol
import ApusJSON
import Testing

extension [TransferReceiver.Action] {
    /// The code of the failure in the actions.
    var failure: TransferError.Code? { if case .end(let outcome)? = self.last { outcome.code } else { nil } }
}

@Suite struct TransferReceiverTests {
    private static let hash = String(repeating: "a", count: 64)

    private func head(_ type: FrameType, _ header: JSONObject = [:]) -> FrameHead { FrameHead(type, stream: 3, header: header) }

    private func receiving(_ size: Int, from offset: Int = 0, window: Int = 400) throws -> TransferReceiver {
        var settings = TransferSettings()
        settings.window = window
        var receiver = TransferReceiver(try offer(size), stream: 3, settings: settings)
        #expect(try receiver.start(at: .zero) == [.prepare(offer(size))])
        let accept = TransferReceiver.Action.send(self.head(.accept, ["offset": JSONValue(offset)]))
        #expect(receiver.prepared(upTo: offset, at: .zero) == [accept])
        guard offset > 0 else { return receiver }
        let shown = PrefixProof(bytes: offset, sha256: Self.hash)
        #expect(try receiver.receivedHead(offer(size, shown: shown).head(stream: 3), at: .zero) == [.compare(shown)])
        #expect(receiver.compared(isEqual: true, at: .zero) == [accept])
        return receiver
    }

    private func chunk(
        _ receiver: inout TransferReceiver, _ offset: Int, _ count: Int, isIntact: Bool = true
    ) -> TransferReceiver.ChunkAction {
        receiver.receivedChunk(offset: offset, count: count, isIntact: isIntact, at: .zero)
    }

    @Test func nothingIsAcknowledgedBeforeItIsSynced() throws {
        var receiver = try self.receiving(250)
        #expect(self.chunk(&receiver, 0, 60) == .write)
        #expect(receiver.written(upTo: 60).isEmpty)
        #expect(self.chunk(&receiver, 60, 60) == .write)
        #expect(receiver.written(upTo: 120) == [.sync(upTo: 120)])  // a quarter of the window
        #expect(self.chunk(&receiver, 120, 60) == .write)
        #expect(receiver.synced(upTo: 120, at: .zero) == [.send(self.head(.ack, ["offset": 120]))])
        #expect(receiver.written(upTo: 180).isEmpty)
        #expect(self.chunk(&receiver, 180, 70) == .write)
        #expect(receiver.written(upTo: 250) == [.sync(upTo: 250)])
        #expect(receiver.synced(upTo: 250, at: .zero) == [.send(self.head(.ack, ["offset": 250]))])
        #expect(receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero) == [.finish(sha256: Self.hash)])
        #expect(receiver.finished(isEqual: true) == [.send(self.head(.complete, ["size": 250])), .end(.completed)])
        #expect(receiver.hasEnded)
    }

    @Test func oneSyncRunsAtATimeAndTheNextCoversAllLaterWrites() throws {
        var receiver = try self.receiving(1000)
        for index in 0..<4 { #expect(self.chunk(&receiver, index * 100, 100) == .write) }
        #expect(receiver.written(upTo: 100) == [.sync(upTo: 100)])
        #expect(receiver.written(upTo: 200).isEmpty)
        #expect(receiver.written(upTo: 350).isEmpty)
        #expect(receiver.synced(upTo: 100, at: .zero) == [.send(self.head(.ack, ["offset": 100])), .sync(upTo: 350)])
        #expect(receiver.written(upTo: 400).isEmpty)
        #expect(receiver.synced(upTo: 350, at: .zero) == [.send(self.head(.ack, ["offset": 350]))])
    }

    @Test func theEndNeedsNoAcknowledgement() throws {
        var receiver = try self.receiving(50)
        #expect(self.chunk(&receiver, 0, 50) == .write)
        #expect(receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero) == [.finish(sha256: Self.hash)])
        #expect(receiver.written(upTo: 50).isEmpty)
        #expect(receiver.ticked(at: .seconds(1000)).isEmpty)  // the disk must act
        #expect(receiver.finished(isEqual: true).first == .send(self.head(.complete, ["size": 50])))
    }

    @Test func anEmptyFileIsVerifiedAtOnce() throws {
        var receiver = try self.receiving(0)
        #expect(receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero) == [.finish(sha256: Self.hash)])
    }

    @Test func existingBytesAreResumed() throws {
        var receiver = try self.receiving(100, from: 40)
        #expect(self.chunk(&receiver, 40, 60) == .write)
        var whole = try self.receiving(100, from: 100)
        #expect(whole.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero) == [.finish(sha256: Self.hash)])
    }

    @Test func existingBytesThatCannotBeTheBeginningAreNotResumed() throws {
        var receiver = TransferReceiver(try offer(100), stream: 3)
        #expect(receiver.prepared(upTo: 101, at: .zero) == [.send(self.head(.accept, ["offset": 0]))])
        #expect(self.chunk(&receiver, 0, 100) == .write)
    }

    /// Returns a receiver that has requested the hash of the first 40 bytes.
    private func asking(_ size: Int = 100, from offset: Int = 40) throws -> TransferReceiver {
        var receiver = TransferReceiver(try offer(size), stream: 3)
        _ = receiver.start(at: .zero)
        #expect(receiver.prepared(upTo: offset, at: .zero) == [.send(self.head(.accept, ["offset": JSONValue(offset)]))])
        return receiver
    }

    @Test func existingBytesAreComparedWithTheSendersHash() throws {
        var receiver = try self.asking()
        #expect(self.chunk(&receiver, 40, 60).isViolation)
        var early = try self.asking()
        #expect(early.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero).failure == .protocolViolation)
        var other = try self.asking()
        let shown = PrefixProof(bytes: 40, sha256: Self.hash)
        #expect(try other.receivedHead(offer(100, shown: shown).head(stream: 3), at: .zero) == [.compare(shown)])
        #expect(other.prepared(upTo: 40, at: .zero).isEmpty)
        // The bytes differ: the whole file is sent, and nothing about them is disclosed.
        #expect(other.compared(isEqual: false, at: .zero) == [.send(self.head(.accept, ["offset": 0]))])
        #expect(self.chunk(&other, 0, 100) == .write)
        var twice = try self.receiving(100, from: 40)
        #expect(try twice.receivedHead(offer(100, shown: shown).head(stream: 3), at: .zero).failure == .protocolViolation)
    }

    @Test func onlyTheRequestedHashIsCompared() throws {
        for (size, shown) in [
            (100, nil), (100, PrefixProof(bytes: 39, sha256: Self.hash)), (100, PrefixProof(bytes: 41, sha256: Self.hash)),
            (99, PrefixProof(bytes: 40, sha256: Self.hash)),
        ] as [(Int, PrefixProof?)] {
            var receiver = try self.asking()
            #expect(try receiver.receivedHead(offer(size, shown: shown).head(stream: 3), at: .zero).failure == .protocolViolation)
        }
    }

    @Test func aComparisonIsCancelled() throws {
        for ends in [{ $0.connectionEnded() }, { $0.receivedHead(FrameHead(.cancel, stream: 3), at: .zero) }]
            as [(inout TransferReceiver) -> [TransferReceiver.Action]]
        {
            var receiver = try self.asking()
            #expect(ends(&receiver).failure != nil)
            var comparing = try self.asking()
            let shown = PrefixProof(bytes: 40, sha256: Self.hash)
            _ = try comparing.receivedHead(offer(100, shown: shown).head(stream: 3), at: .zero)
            #expect(comparing.ticked(at: .seconds(1000)).isEmpty)  // the disk must act
            #expect(ends(&comparing).failure != nil)
            #expect(comparing.compared(isEqual: true, at: .zero).isEmpty)
        }
        var receiver = try self.asking()
        #expect(receiver.cancel(at: .zero) == [.send(self.head(.cancel))])
    }

    @Test func aDamagedChunkIsRequestedAgain() throws {
        var receiver = try self.receiving(300)
        #expect(self.chunk(&receiver, 0, 100) == .write)
        #expect(
            self.chunk(&receiver, 100, 100, isIntact: false)
                == .drop([.send(self.head(.ack, ["offset": 0, "again": 100]))]))
        // Frames sent before the resend are ignored: the next chunk, another damaged one, and the
        // end.
        #expect(self.chunk(&receiver, 200, 100) == .drop([]))
        #expect(self.chunk(&receiver, 7, 9, isIntact: false) == .drop([]))
        #expect(receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero).isEmpty)
        #expect(receiver.receivedHead(self.head(.data, ["from": 100]), at: .zero).isEmpty)
        #expect(self.chunk(&receiver, 100, 100) == .write)
        #expect(self.chunk(&receiver, 200, 100) == .write)
    }

    @Test func resendsAreBounded() throws {
        var receiver = try self.receiving(300)
        for _ in 0..<16 {
            #expect(self.chunk(&receiver, 0, 1, isIntact: false) != .drop([]))
            #expect(receiver.receivedHead(self.head(.data, ["from": 0]), at: .zero).isEmpty)
        }
        guard case .drop(let actions) = self.chunk(&receiver, 0, 1, isIntact: false) else {
            Issue.record("written")
            return
        }
        #expect(actions.failure == .corrupted)
    }

    @Test(arguments: [(1, 10), (0, 101), (0, 0), (50, 10), (Int.max, 1)])
    func chunksComeInOrderAndWithinTheFile(offset: Int, count: Int) throws {
        var receiver = try self.receiving(100)
        guard case .drop(let actions) = self.chunk(&receiver, offset, count) else {
            Issue.record("written")
            return
        }
        #expect(actions.failure == .protocolViolation)
    }

    @Test func theWindowBindsTheSender() throws {
        var receiver = try self.receiving(10 * TransferChunk.maximumBytes, window: 2 * TransferChunk.maximumBytes)
        for index in 0..<3 {
            #expect(self.chunk(&receiver, index * TransferChunk.maximumBytes, TransferChunk.maximumBytes) == .write)
        }
        guard case .drop(let actions) = self.chunk(&receiver, 3 * TransferChunk.maximumBytes, 1) else {
            Issue.record("written")
            return
        }
        #expect(actions.failure == .protocolViolation)
    }

    @Test func anotherHashDiscardsTheFile() throws {
        var receiver = try self.receiving(0)
        _ = receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero)
        let actions = receiver.finished(isEqual: false)
        #expect(actions.first == .discard)
        #expect(actions.failure == .corrupted)
    }

    @Test(arguments: [[:], ["sha256": "aa"], ["sha256": 5]] as [JSONObject])
    func theEndContainsAHash(header: JSONObject) throws {
        var receiver = try self.receiving(0)
        #expect(receiver.receivedHead(self.head(.done, header), at: .zero).failure == .protocolViolation)
    }

    @Test func theEndComesOnceAndAfterAllBytes() throws {
        var receiver = try self.receiving(10)
        #expect(receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero).failure == .protocolViolation)
        var twice = try self.receiving(10)
        _ = self.chunk(&twice, 0, 10)
        #expect(twice.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero) == [.finish(sha256: Self.hash)])
        #expect(twice.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero).isEmpty)
    }

    @Test func reportsThatDoNotFitChangeNothing() throws {
        var receiver = try self.receiving(200)
        _ = self.chunk(&receiver, 0, 150)
        #expect(receiver.written(upTo: 151).isEmpty)
        #expect(receiver.synced(upTo: 100, at: .zero).isEmpty)  // no sync was requested
        #expect(receiver.written(upTo: 150) == [.sync(upTo: 150)])
        #expect(receiver.written(upTo: 150).isEmpty)
        #expect(receiver.synced(upTo: 151, at: .zero).isEmpty)
        #expect(receiver.finished(isEqual: true).isEmpty)
    }

    // MARK: Closing

    @Test func theDiskFails() throws {
        var receiver = try self.receiving(100)
        let error = TransferError(.diskFull, message: "full")
        #expect(receiver.fail(error) == [.send(error.head(stream: 3)), .end(.failed(error))])
        // Later frames were sent before the failure; nothing is acknowledged.
        #expect(self.chunk(&receiver, 0, 10) == .drop([]))
        #expect(receiver.written(upTo: 10).isEmpty)
        #expect(receiver.synced(upTo: 10, at: .zero).isEmpty)
        #expect(receiver.receivedHead(self.head(.done), at: .zero).isEmpty)
        #expect(receiver.fail(error).isEmpty)
    }

    @Test func aCancellationIsConfirmed() throws {
        var receiver = try self.receiving(100)
        #expect(receiver.cancel(at: .zero) == [.send(self.head(.cancel))])
        #expect(self.chunk(&receiver, 0, 10) == .drop([]))
        #expect(receiver.receivedHead(self.head(.cancelled), at: .zero).failure == .cancelled)
        var silent = try self.receiving(100)
        _ = silent.cancel(at: .zero)
        #expect(silent.ticked(at: .seconds(4)).isEmpty)
        #expect(silent.ticked(at: .seconds(5)).failure == .cancelled)
        var peer = try self.receiving(100)
        let actions = peer.receivedHead(self.head(.cancel), at: .zero)
        #expect(actions.first == .send(self.head(.cancelled)) && actions.failure == .cancelled)
        // Both sides cancel: each confirms the other's cancellation.
        var both = try self.receiving(100)
        _ = both.cancel(at: .zero)
        #expect(both.receivedHead(self.head(.cancel), at: .zero).failure == .cancelled)
    }

    @Test func aFileBeingRenamedIsNotCancelled() throws {
        var receiver = try self.receiving(0)
        _ = receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero)
        #expect(receiver.cancel(at: .zero).isEmpty)
        // Neither frames of the sender nor the end of the connection cancel the transfer.
        for type in [FrameType.cancel, .error, .done, .offer] { #expect(receiver.receivedHead(self.head(type), at: .zero).isEmpty) }
        #expect(self.chunk(&receiver, 0, 1) == .drop([]))
        #expect(receiver.receivedNoChunk(TransferError(.protocolViolation, message: "x")).isEmpty)
        #expect(receiver.connectionEnded().isEmpty)
        #expect(receiver.finished(isEqual: true).last == .end(.completed))
    }

    @Test func aFailedRenameEndsTheTransfer() throws {
        var receiver = try self.receiving(0)
        _ = receiver.receivedHead(self.head(.done, ["sha256": .string(Self.hash)]), at: .zero)
        #expect(receiver.fail(TransferError(.storage, message: "x")).failure == .storage)
        #expect(receiver.finished(isEqual: true).isEmpty)
    }

    @Test func framesAtTheWrongTimeEndIt() throws {
        for type in [FrameType.accept, .ack, .complete, .cancelled, .data] {
            var receiver = try self.receiving(100)
            #expect(receiver.receivedHead(self.head(type), at: .zero).failure == .protocolViolation)
        }
        var deciding = TransferReceiver(try offer(100), stream: 3)
        guard case .drop(let actions) = self.chunk(&deciding, 0, 10) else {
            Issue.record("written")
            return
        }
        #expect(actions.failure == .protocolViolation)
    }

    @Test func aStalledSenderIsClosedAndASlowDiskIsNot() throws {
        var receiver = try self.receiving(1000)
        #expect(receiver.ticked(at: .seconds(29)).isEmpty)
        _ = receiver.receivedChunk(offset: 0, count: 50, isIntact: true, at: .seconds(29))
        #expect(receiver.ticked(at: .seconds(100)).isEmpty)  // the write has not completed
        _ = receiver.written(upTo: 50)
        #expect(receiver.ticked(at: .seconds(100)) == [.sync(upTo: 50)])
        _ = receiver.synced(upTo: 50, at: .seconds(100))
        #expect(receiver.ticked(at: .seconds(129)).isEmpty)
        #expect(receiver.ticked(at: .seconds(130)).failure == .timeout)  // the sender stopped
        var syncing = try self.receiving(1000)
        _ = self.chunk(&syncing, 0, 200)
        _ = syncing.written(upTo: 200)
        #expect(syncing.ticked(at: .seconds(1000)).isEmpty)
        _ = syncing.synced(upTo: 200, at: .seconds(1000))
        #expect(syncing.ticked(at: .seconds(1029)).isEmpty)
        #expect(syncing.ticked(at: .seconds(1030)).failure == .timeout)
    }

    @Test func littleIsSyncedAfterAWhile() throws {
        var receiver = try self.receiving(1000)
        _ = self.chunk(&receiver, 0, 50)
        #expect(receiver.ticked(at: .seconds(3)).isEmpty)  // not written yet
        _ = receiver.written(upTo: 50)
        #expect(receiver.ticked(at: .seconds(1)).isEmpty)
        #expect(receiver.ticked(at: .seconds(2)) == [.sync(upTo: 50)])
        #expect(receiver.ticked(at: .seconds(5)).isEmpty)  // already requested
        #expect(receiver.synced(upTo: 50, at: .seconds(5)) == [.send(self.head(.ack, ["offset": 50]))])
        #expect(receiver.ticked(at: .seconds(8)).isEmpty)
    }

    @Test func theSenderHasTimeToHashExistingBytes() throws {
        let size = 100 << 24
        var receiver = try self.asking(size, from: size - 1)
        #expect(receiver.ticked(at: .seconds(128)).isEmpty)
        #expect(receiver.ticked(at: .seconds(129)).failure == .timeout)
    }

    @Test func theConnectionEnds() throws {
        var receiver = try self.receiving(100)
        #expect(receiver.connectionEnded().failure == .interrupted)
        #expect(receiver.connectionEnded().isEmpty)
    }

    // MARK: Whole files

    private func whole(_ size: Int) throws -> TransferReceiver {
        var receiver = TransferReceiver(
            try TransferOffer(id: "x", name: SafeFileName("a.txt"), size: size, wholeHash: Self.hash), stream: 3)
        #expect(receiver.start(at: .zero) == (size == 0 ? [.take(sha256: Self.hash)] : []))
        return receiver
    }

    @Test func aWholeFileIsStoredInOneStep() throws {
        var receiver = try self.whole(100)
        #expect(self.chunk(&receiver, 0, 100) == .take(sha256: Self.hash))
        #expect(self.chunk(&receiver, 0, 100).isViolation)
        var two = try self.whole(100)
        _ = self.chunk(&two, 0, 100)
        #expect(two.finished(isEqual: true) == [.send(self.head(.complete, ["size": 100])), .end(.completed)])
        var empty = try self.whole(0)
        #expect(empty.finished(isEqual: true, had: 0).last == .end(.completed))
        var known = try self.whole(100)
        _ = self.chunk(&known, 0, 100)
        #expect(known.finished(isEqual: true, had: 100).first == .send(self.head(.complete, ["size": 100, "offset": 100])))
        var other = try self.whole(100)
        _ = self.chunk(&other, 0, 100)
        #expect(other.finished(isEqual: false).failure == .corrupted)
    }

    @Test func aWholeFileThatIsDamagedOrDeclinedIsSentInChunks() throws {
        var damaged = try self.whole(100)
        #expect(try self.chunk(&damaged, 7, 99, isIntact: false) == .drop([.prepare(offer(100))]))
        #expect(damaged.prepared(upTo: 0, at: .zero) == [.send(self.head(.accept, ["offset": 0]))])
        #expect(self.chunk(&damaged, 0, 100) == .write)
        var declined = try self.whole(100)
        #expect(declined.declined(at: .zero).isEmpty)  // the file was not complete yet
        _ = self.chunk(&declined, 0, 100)
        #expect(try declined.declined(at: .zero) == [.prepare(offer(100))])
        #expect(declined.finished(isEqual: true).isEmpty)
        #expect(declined.prepared(upTo: 0, at: .zero).count == 1)
        #expect(self.chunk(&declined, 0, 100) == .write)
    }

    @Test(arguments: [(1, 100), (0, 99), (0, 101)])
    func aWholeFileIsTheOneThatWasOffered(offset: Int, count: Int) throws {
        var receiver = try self.whole(100)
        #expect(self.chunk(&receiver, offset, count).isViolation)
    }

    @Test func aWholeFileOnTheDiskIsNotCancelled() throws {
        for type in [FrameType.cancel, .error] {
            var receiver = try self.whole(100)
            _ = self.chunk(&receiver, 0, 100)
            #expect(receiver.receivedHead(self.head(type), at: .zero).isEmpty)
            #expect(receiver.cancel(at: .zero).isEmpty && receiver.ticked(at: .seconds(1000)).isEmpty)
            var declined = receiver
            #expect(receiver.finished(isEqual: true).last == .end(.completed))
            // The file would have to be sent in chunks, so the sender's cancellation applies.
            #expect(declined.declined(at: .zero).failure == .cancelled)
        }
        var gone = try self.whole(100)
        _ = self.chunk(&gone, 0, 100)
        #expect(gone.connectionEnded().isEmpty)
        #expect(gone.declined(at: .zero).failure == .cancelled)
    }

    @Test func aMissingWholeFileTimesOut() throws {
        var receiver = try self.whole(100)
        #expect(receiver.ticked(at: .seconds(29)).isEmpty)
        #expect(receiver.ticked(at: .seconds(30)).failure == .timeout)
        var gone = try self.whole(100)
        #expect(gone.connectionEnded().failure == .interrupted)
        var givenUp = try self.whole(100)
        #expect(givenUp.receivedHead(self.head(.cancel), at: .zero).failure == .cancelled)
    }
}

extension TransferReceiver.ChunkAction {
    fileprivate var isViolation: Bool { if case .drop(let actions) = self { actions.failure == .protocolViolation } else { false } }
}
