import ApusFramedProtocol
import ApusJSON
import ApusSeededRandom
import Crypto
import NIOCore
import Testing

/// Runs both state machines in a simulated world: the wire damages chunks and breaks, the disk
/// loses unsynced bytes, and no time passes.
private struct World {
    /// A disk: the written bytes, and how many of them survive a power loss.
    struct Disk {
        var bytes: [UInt8] = []
        var durable = 0
        var published: [UInt8]?

        mutating func powerCut() { self.bytes.removeSubrange(self.durable...) }
    }

    enum Packet {
        case head(FrameHead)
        case chunk([UInt8])
    }

    let file: [UInt8]
    let settings: TransferSettings
    var disk = Disk()
    var generator: SplitMix64
    var acknowledged = 0

    static func hash(_ bytes: some Collection<UInt8>) -> String {
        SHA256.hash(data: Array(bytes)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Simulates one connection. It breaks after `packets` packets, and damages one chunk in
    /// `damage`.
    ///
    /// - Parameter isWhole: Whether the file is sent with its offer.
    mutating func connect(
        breaksAfter packets: Int, damage: Int, isWhole: Bool = false
    ) throws -> (sender: TransferOutcome?, receiver: TransferOutcome?) {
        var sender = TransferSender(
            try TransferOffer(
                id: "x", name: SafeFileName("a"), size: self.file.count, wholeHash: isWhole ? Self.hash(self.file) : nil),
            stream: 1, settings: self.settings)
        var receiver: TransferReceiver?
        var toReceiver: [Packet] = []
        var toSender: [FrameHead] = []
        var outcomes: (sender: TransferOutcome?, receiver: TransferOutcome?)
        var left = packets

        func perform(_ actions: [TransferSender.Action]) {
            for action in actions {
                switch action {
                case .send(let head): toReceiver.append(.head(head))
                case .hashPrefix(let length): perform(sender.prefixHashed(Self.hash(self.file.prefix(length)), at: .zero))
                case .progress(let durable): self.acknowledged = max(self.acknowledged, durable)
                case .end(let outcome): outcomes.sender = outcome
                }
            }
        }
        func perform(_ actions: [TransferReceiver.Action]) {
            for action in actions {
                switch action {
                case .send(let head): toSender.append(head)
                case .prepare(let offer):
                    self.disk.powerCut()
                    #expect(offer.shown == nil)
                    perform(receiver?.prepared(upTo: self.disk.durable, at: .zero) ?? [])
                case .compare(let shown):
                    let isEqual = shown == PrefixProof(bytes: self.disk.durable, sha256: Self.hash(self.disk.bytes))
                    if !isEqual { self.disk = Disk() }
                    perform(receiver?.compared(isEqual: isEqual, at: .zero) ?? [])
                case .sync(let offset):
                    self.disk.durable = offset
                    perform(receiver?.synced(upTo: offset, at: .zero) ?? [])
                case .finish(let hash):
                    let isEqual = hash == Self.hash(self.disk.bytes)
                    self.disk.durable = self.disk.bytes.count
                    if isEqual { self.disk.published = self.disk.bytes }
                    perform(receiver?.finished(isEqual: isEqual) ?? [])
                case .take(let hash): take(hash)
                case .discard: self.disk = Disk()
                case .end(let outcome): outcomes.receiver = outcome
                }
            }
        }

        func send(_ bytes: ArraySlice<UInt8>, at offset: Int) {
            var body = chunkBody(offset: offset, bytes)
            if damage > 0, Int.random(in: 0..<damage, using: &self.generator) == 0 {
                body[Int.random(in: 0..<body.count, using: &self.generator)] ^= 0x10
            }
            toReceiver.append(.chunk(body))
        }
        /// Stores all or nothing, and declines when a part of the file exists.
        func take(_ hash: String, _ bytes: [UInt8] = []) {
            guard self.disk.bytes.isEmpty else { return perform(receiver?.declined(at: .zero) ?? []) }
            let isEqual = hash == Self.hash(bytes)
            if isEqual { self.disk = Disk(bytes: bytes, durable: bytes.count, published: bytes) }
            perform(receiver?.finished(isEqual: isEqual) ?? [])
        }

        if isWhole {
            sender.startWhole(at: .zero)
            toReceiver.append(.head(sender.offer.head(stream: 1)))
            if !self.file.isEmpty { send(self.file[...], at: 0) }
        } else {
            perform(sender.start(at: .zero))
        }
        var isIdle = false
        while left > 0, !isIdle {
            isIdle = true
            // The sender sends, or one side receives, in random order.
            if Bool.random(using: &self.generator) || toReceiver.isEmpty {
                switch sender.next() {
                case .chunk(let offset, let count):
                    send(self.file[offset..<offset + count], at: offset)
                    isIdle = false
                case .hash:
                    perform(sender.hashed(Self.hash(self.file), at: .zero))
                    isIdle = false
                case .wait: break
                }
            }
            if !toReceiver.isEmpty {
                isIdle = false
                left -= 1
                switch toReceiver.removeFirst() {
                case .head(let head):
                    if receiver == nil {
                        receiver = TransferReceiver(try TransferOffer(head.header), stream: 1, settings: self.settings)
                        perform(receiver?.start(at: .zero) ?? [])
                    } else {
                        perform(receiver?.receivedHead(head, at: .zero) ?? [])
                    }
                case .chunk(let body):
                    var gatherer = TransferChunk.Assembler()
                    try gatherer.receivedPiece(ByteBuffer(bytes: body))
                    let chunk = try gatherer.ended()
                    switch receiver?.receivedChunk(offset: chunk.offset, count: chunk.count, isIntact: chunk.isIntact, at: .zero) {
                    case .write?:
                        #expect(chunk.offset == self.disk.bytes.count)
                        for piece in chunk.pieces { self.disk.bytes += Array(buffer: piece) }
                        perform(receiver?.written(upTo: self.disk.bytes.count) ?? [])
                    case .take(let hash)?: take(hash, chunk.pieces.flatMap { Array(buffer: $0) })
                    case .drop(let actions)?: perform(actions)
                    case nil: break
                    }
                }
            }
            if !toSender.isEmpty, Bool.random(using: &self.generator) || toReceiver.isEmpty {
                isIdle = false
                perform(sender.receivedHead(toSender.removeFirst(), at: .zero))
            }
            #expect(self.disk.durable >= self.acknowledged)  // acknowledged bytes are durable
        }
        perform(sender.connectionEnded())
        perform(receiver?.connectionEnded() ?? [])
        return outcomes
    }
}

@Suite struct TransferWorldTests {
    private func world(_ count: Int, seed: UInt64) -> World {
        var settings = TransferSettings()
        settings.window = 1 << 20
        settings.maximumResends = 1000
        return World(
            file: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }, settings: settings, generator: SplitMix64(state: seed))
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 3_000_000])
    func aFileArrives(count: Int) throws {
        var world = self.world(count, seed: UInt64(count))
        let outcomes = try world.connect(breaksAfter: .max, damage: 0)
        #expect(outcomes.sender == .completed && outcomes.receiver == .completed)
        #expect(world.disk.published == world.file)
        #expect(world.acknowledged == count)
    }

    @Test(arguments: [0, 1, 4096, WholeFile.maximumBytes])
    func aWholeFileArrives(count: Int) throws {
        var world = self.world(count, seed: UInt64(count))
        let outcomes = try world.connect(breaksAfter: .max, damage: 0, isWhole: true)
        #expect(outcomes.sender == .completed && outcomes.receiver == .completed)
        #expect(world.disk.published == world.file)
        #expect(world.acknowledged == count)
    }

    /// Damaged, interrupted, or with existing bytes: the file is sent in chunks.
    @Test(arguments: 0..<20)
    func aWholeFileArrivesDespiteFaults(seed: Int) throws {
        var world = self.world(5000, seed: UInt64(seed))
        if seed % 3 == 0 {
            world.disk.bytes = Array(world.file.prefix(seed * 100))
            world.disk.durable = world.disk.bytes.count
        }
        var attempts = 0
        while world.disk.published == nil, attempts < 50 {
            attempts += 1
            _ = try world.connect(
                breaksAfter: attempts > 10 ? .max : Int.random(in: 1...6, using: &world.generator), damage: 2, isWhole: true)
            world.disk.powerCut()
        }
        #expect(world.disk.published == world.file)
    }

    /// Damaged chunks, repeated disconnections, and a disk that loses unsynced bytes: the file
    /// arrives in the end, and no acknowledged byte is lost.
    @Test(arguments: 0..<10)
    func aFileArrivesThroughEverything(seed: Int) throws {
        var world = self.world(1_200_000 + seed, seed: UInt64(seed))
        var attempts = 0
        while world.disk.published == nil, attempts < 200 {
            attempts += 1
            let breaks = attempts > 100 ? Int.max : Int.random(in: 1...12, using: &world.generator)
            _ = try world.connect(breaksAfter: breaks, damage: 5)
            world.disk.powerCut()
        }
        #expect(world.disk.published == world.file)
    }

    @Test func anotherFileUnderTheSameIDBeginsAnew() throws {
        var world = self.world(2_000_000, seed: 1)
        _ = try world.connect(breaksAfter: 8, damage: 0)
        #expect(world.disk.durable > 0)
        world.disk.bytes[5] ^= 1
        world.acknowledged = 0
        let outcomes = try world.connect(breaksAfter: .max, damage: 0)
        #expect(outcomes.sender == .completed)
        #expect(world.disk.published == world.file)
    }
}
