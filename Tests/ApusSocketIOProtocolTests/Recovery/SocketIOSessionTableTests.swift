import ApusSocketIOProtocol
import Testing

@Suite struct SocketIOSessionTableTests {
    private var table = SocketIOSessionTable<String>(lifetime: .seconds(10), maximumCount: 2)

    @Test mutating func aSessionIsTakenOnce() {
        self.table.keep("s", pid: "p", at: .zero)
        #expect(self.table.take("other", at: .zero) == nil)
        #expect(self.table.take("p", at: .zero) == "s")
        #expect(self.table.take("p", at: .zero) == nil)
        #expect(self.table.count == 0)
    }

    @Test mutating func itsTimeEnds() {
        self.table.keep("s", pid: "p", at: .seconds(1))
        self.table.expire(at: .milliseconds(10_999))
        #expect(self.table.count == 1)
        #expect(self.table.take("p", at: .seconds(11)) == nil)
        #expect(self.table.count == 0)
    }

    @Test mutating func aSessionStoredAgainExpiresByItsLastTime() {
        self.table.keep("s", pid: "p", at: .seconds(0))
        #expect(self.table.take("p", at: .seconds(5)) == "s")
        self.table.keep("t", pid: "p", at: .seconds(6))
        self.table.expire(at: .seconds(10))
        #expect(self.table.take("p", at: .seconds(15)) == "t")
    }

    @Test mutating func aNewSessionReplacesTheOldest() {
        for pid in ["a", "b", "c"] { self.table.keep(pid, pid: pid, at: .zero) }
        #expect(self.table.count == 2)
        #expect(self.table.take("a", at: .zero) == nil)
        #expect(self.table.take("c", at: .zero) == "c")
    }
}
