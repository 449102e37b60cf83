import ApusSocketIOProtocol
import Testing

/// The result of a recovery, and its offset. Source: Socket.IO, "Connection state recovery". In
/// contrast to Node's Socket.IO a pid can be used once, and CONNECT carries an offset.
@Suite struct SocketIORecoveryStoreTests {
    private var store = SocketIORecoveryStore<String, Int>(
        epoch: "e", lifetime: .seconds(120), maximumPackets: 3, maximumBytes: 1000, maximumSessions: 10)

    private mutating func append(_ packets: String...) {
        for packet in packets { self.store.append(packet, for: .init(), bytes: 1, at: .zero) }
    }

    private mutating func lose(startingAt number: UInt64 = 0) {
        let start = SocketIOOffset(epoch: "e", number: number)
        self.store.lost(.init(socketID: "id", rooms: ["id", "red"], start: start, kept: 7), pid: "p", at: .zero)
    }

    /// Returns the number that a claim resumes from, or nil for a new session.
    private mutating func claim(_ offset: String?, pid: String = "p", at now: Duration = .zero) -> UInt64? {
        guard case .resume(let session, let from) = self.store.claimed(pid: pid, offset: offset, at: now) else { return nil }
        #expect(session.socketID == "id")
        #expect(session.rooms == ["id", "red"])
        #expect(session.kept == 7)
        return from.number
    }

    @Test mutating func resumesFromTheOffset() {
        self.append("a", "b", "c")
        self.lose()
        #expect(self.claim("e.2") == 2)
        #expect(self.store.missed(after: SocketIOOffset(epoch: "e", number: 2), memberOf: ["id"]) == ["c"])
    }

    @Test mutating func onlyOnce() {
        self.lose()
        #expect(self.claim("e.0") == 0)
        #expect(self.claim("e.0") == nil)
    }

    @Test mutating func aSocketThatNeverGotAnEventResumesFromItsConnect() {
        self.append("a")
        self.lose(startingAt: 1)
        self.append("b")
        #expect(self.claim(nil) == 1)
    }

    @Test(arguments: ["e.1", "e.0", "other.99"])
    mutating func anOffsetFromBeforeTheSessionCountsAsNone(offset: String) {
        self.append("a", "b")
        self.lose(startingAt: 2)
        #expect(self.claim(offset) == 2)
    }

    @Test(arguments: ["hello", "", "e", "e.99", "e.-1"])
    mutating func anInvalidOffsetStartsANewSession(offset: String) {
        self.append("a")
        self.lose()
        #expect(self.claim(offset) == nil)
        // The session was removed, because the client has started another one.
        #expect(self.claim("e.0") == nil)
    }

    @Test mutating func anExpiredOffsetStartsANewSession() {
        self.lose()
        self.append("a", "b", "c", "d")
        #expect(self.claim("e.0") == nil)
        self.lose()
        #expect(self.claim("e.1") == 1)
    }

    @Test mutating func anUnknownPidStartsANewSession() {
        self.lose()
        #expect(self.claim("e.0", pid: "other") == nil)
    }

    @Test mutating func anExpiredSessionStartsANewOne() {
        self.lose()
        #expect(self.claim("e.0", at: .seconds(120)) == nil)
        self.lose()
        #expect(self.claim("e.0", at: .milliseconds(119_999)) == 0)
    }

    @Test mutating func timeEmptiesIt() {
        self.append("a")
        self.lose()
        #expect(!self.store.isEmpty)
        self.store.expire(at: .seconds(120))
        #expect(self.store.isEmpty)
        #expect(self.store.sessionCount == 0)
    }
}
