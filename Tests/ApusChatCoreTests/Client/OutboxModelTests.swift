import ApusChatProtocol
import ApusSeededRandom
import Testing

@testable import ApusChatCore

/// The outbox in random runs, with a server that loses, repeats and refuses.
@Suite("Random runs of the outbox")
struct OutboxModelTests {
    private static let rooms = (0..<12).map { ConversationID(number: Int64($0) + 1) }

    /// The expected state of each message.
    private struct Model {
        var waiting: [ConversationID: [ClientID]] = [:]
        var files: [ConversationID: [ClientID]] = [:]
        var uploaded: Set<ClientID> = []
        var sent: [ConversationID: ClientID] = [:]
        /// The acknowledged messages that the log does not contain, with their conversations.
        var acknowledged: [ClientID: ConversationID] = [:]
        var resting: Set<ConversationID> = []
        var isConnected = false

        /// Checks the messages that the outbox sends now.
        mutating func start(_ ids: [ClientID], of outbox: ClientOutbox, maximum: Int) {
            for id in ids {
                guard let room = outbox.conversation(of: id) else {
                    Issue.record("\(id) is unknown")
                    continue
                }
                #expect(self.isConnected && self.sent[room] == nil && !self.resting.contains(room), "\(id)")
                #expect(self.waiting[room]?.first == id, "the oldest message first")
                self.sent[room] = id
            }
            #expect(self.sent.count <= maximum)
            // A place is free only if nothing can be sent.
            guard self.isConnected, self.sent.count < maximum else { return }
            for (room, ids) in self.waiting where !ids.isEmpty {
                #expect(self.sent[room] != nil || self.resting.contains(room), "\(room) is forgotten")
            }
        }

        mutating func remove(_ id: ClientID, of room: ConversationID) {
            self.waiting[room]?.removeAll { $0 == id }
            self.files[room]?.removeAll { $0 == id }
            if self.sent[room] == id { self.sent[room] = nil }
            self.advance(room)
        }

        /// A file is sent after the upload of each earlier one.
        mutating func advance(_ room: ConversationID) {
            while let first = self.files[room]?.first, self.uploaded.contains(first) {
                self.files[room]?.removeFirst()
                self.waiting[room, default: []].append(first)
            }
        }
    }

    @Test(arguments: [1, 2, 8]) func everyMessageIsSentInOrder(maximum: Int) {
        for seed in UInt64(1)...60 {
            var generator = SplitMix64(state: seed)
            var outbox = ClientOutbox(maximumInFlight: maximum)
            var model = Model()
            var number = 0
            func any<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &generator) }
            func order(_ id: ClientID) -> Int { Int(id.rawValue.dropFirst()) ?? 0 }
            for _ in 0..<300 {
                switch Int.random(in: 0..<13, using: &generator) {
                case 0 where model.isConnected:
                    model.isConnected = false
                    model.sent = [:]
                    outbox.disconnected()
                case 0, 1:
                    guard !model.isConnected else { break }
                    model.isConnected = true
                    model.resting = []
                    model.start(outbox.connected(), of: outbox, maximum: maximum)
                case 2, 3, 4:
                    let room = any(Self.rooms) ?? Client.room
                    number += 1
                    let id = Client.id("m\(number)")
                    let isUploading = Int.random(in: 0..<4, using: &generator) == 0
                    if isUploading { model.files[room, default: []].append(id) } else { model.waiting[room, default: []].append(id) }
                    model.start(outbox.enqueued(id, in: room, isUploading: isUploading), of: outbox, maximum: maximum)
                case 5:
                    let uploading = model.files.values.flatMap { $0 }.filter { !model.uploaded.contains($0) }
                    guard let id = any(uploading.sorted { $0.rawValue < $1.rawValue }), let room = outbox.conversation(of: id) else {
                        break
                    }
                    model.uploaded.insert(id)
                    model.advance(room)
                    model.start(outbox.uploaded(id), of: outbox, maximum: maximum)
                case 6:
                    guard let (room, id) = any(model.sent.sorted { $0.key < $1.key }) else { break }
                    model.sent[room] = nil
                    model.resting.insert(room)
                    let (action, send) = outbox.failedForNow(id)
                    #expect({ if case .rest(room, let failures) = action { failures > 0 } else { false } }())
                    model.start(send, of: outbox, maximum: maximum)
                    #expect(outbox.failedForNow(id).action == .doNothing, "late")
                case 7:
                    guard let room = any(model.resting.sorted()) else { break }
                    model.resting.remove(room)
                    model.start(outbox.restEnded(in: room), of: outbox, maximum: maximum)
                case 8:
                    // The user discards any message.
                    let all = model.waiting.values.flatMap { $0 } + model.files.values.flatMap { $0 }
                    guard let id = any(all.sorted { $0.rawValue < $1.rawValue }), let room = outbox.conversation(of: id) else { break }
                    if model.waiting[room]?.first == id { model.resting.remove(room) }
                    model.remove(id, of: room)
                    model.start(outbox.settled(id), of: outbox, maximum: maximum)
                    #expect(outbox.settled(id) == [], "repeated")
                case 9:
                    guard let (room, id) = any(model.sent.sorted { $0.key < $1.key }) else { break }
                    model.remove(id, of: room)
                    model.acknowledged[id] = room
                    model.start(outbox.acknowledged(id), of: outbox, maximum: maximum)
                    #expect(outbox.acknowledged(id) == [], "repeated")
                    #expect(outbox.enqueued(id, in: room) == [], "known")
                case 10:
                    guard let id = any(model.acknowledged.keys.sorted { order($0) < order($1) }) else { break }
                    model.acknowledged[id] = nil
                    #expect(outbox.settled(id) == [], "the log contains it")
                case 11 where !model.isConnected:
                    outbox.requeue()
                    for (id, room) in model.acknowledged { model.waiting[room, default: []].append(id) }
                    for room in Set(model.acknowledged.values) { model.waiting[room]?.sort { order($0) < order($1) } }
                    model.acknowledged = [:]
                case 12:
                    // The server has lost the file of the message.
                    guard let (room, id) = any(model.sent.sorted { $0.key < $1.key }) else { break }
                    model.sent[room] = nil
                    model.waiting[room]?.removeAll { $0 == id }
                    model.uploaded.remove(id)
                    model.files[room, default: []].append(id)
                    model.files[room]?.sort { order($0) < order($1) }
                    model.start(outbox.uploadsAgain(id), of: outbox, maximum: maximum)
                    #expect(outbox.uploadsAgain(id) == [], "repeated")
                default:
                    guard let (room, id) = any(model.sent.sorted { $0.key < $1.key }) else { break }
                    model.remove(id, of: room)
                    model.start(outbox.settled(id), of: outbox, maximum: maximum)
                }
                #expect(outbox.count == model.waiting.values.reduce(0) { $0 + $1.count } + model.files.values.reduce(0) { $0 + $1.count })
            }
        }
    }

    /// With one place, a conversation with many messages does not keep it.
    @Test func conversationsTakeTurns() {
        var outbox = ClientOutbox(maximumInFlight: 1)
        for index in 0..<5 { for room in Self.rooms.prefix(3) { _ = outbox.enqueued(Client.id("\(room)-\(index)"), in: room) } }
        var order: [ConversationID] = []
        var next = outbox.connected()
        while let id = next.first, let room = outbox.conversation(of: id) {
            order.append(room)
            next = outbox.settled(id)
        }
        #expect(order.count == 15 && outbox.count == 0)
        for start in stride(from: 0, to: 15, by: 3) { #expect(Set(order[start..<start + 3]).count == 3, "\(order)") }
    }

    /// An id that is given again for another conversation changes nothing: the first conversation
    /// still gets its answer, and sends its next message.
    @Test func aRepeatedIDKeepsItsConversation() {
        var outbox = ClientOutbox()
        #expect(outbox.connected() == [])
        #expect(outbox.enqueued(Client.id("a"), in: Client.room) == [Client.id("a")])
        #expect(outbox.enqueued(Client.id("b"), in: Client.room) == [])
        #expect(outbox.enqueued(Client.id("a"), in: Client.other) == [])
        #expect(outbox.conversation(of: Client.id("a")) == Client.room)
        #expect(outbox.settled(Client.id("a")) == [Client.id("b")])
    }
}
