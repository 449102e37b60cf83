import ApusConnectivity
import ApusEventLoop
import ApusFramedProtocol

extension Work {
    static let machines: [Work] = [
        Work("transfer machines, a chunk sent, written and acknowledged") {
            let size = 1 << 50
            let offer = try TransferOffer(id: "a", name: SafeFileName("a"), size: size)
            var sender = TransferSender(offer, stream: 1)
            var receiver = TransferReceiver(offer, stream: 1)
            _ = sender.start(at: .zero)
            _ = receiver.start(at: .zero)
            for case .send(let head) in receiver.prepared(upTo: 0, at: .zero) { _ = sender.receivedHead(head, at: .zero) }
            return { rounds in
                for _ in 0..<rounds {
                    guard case .chunk(let offset, let count) = sender.next(),
                        case .write = receiver.receivedChunk(offset: offset, count: count, isIntact: true, at: .zero)
                    else { throw WorkFailure(message: "no chunk") }
                    for case .sync(let end) in receiver.written(upTo: offset + count) {
                        for case .send(let head) in receiver.synced(upTo: end, at: .zero) { _ = sender.receivedHead(head, at: .zero) }
                    }
                }
            }
        },
        Work("reconnection machine, lost and connected again") {
            var machine = ReconnectionStateMachine(policy: .socketIO)
            var generator = SplitMix64()
            _ = machine.start()
            return { rounds in
                for _ in 0..<rounds {
                    use(machine.opened(at: .zero))
                    use(machine.lost(at: .seconds(60), using: &generator))
                    use(machine.timerFired())
                }
            }
        },
    ]

    private struct SplitMix64: RandomNumberGenerator {
        var state: UInt64 = 1
        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state
        }
    }
}
