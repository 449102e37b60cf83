import ApusConnectivity
import Testing

@Suite struct NetworkWatchTests {
    private func path(_ isSatisfied: Bool, _ fingerprint: String) -> NetworkPath {
        NetworkPath(isSatisfied: isSatisfied, hasDefaultRoute: isSatisfied, fingerprint: fingerprint)
    }

    @Test func reportsAreComparedWithTheLastOne() {
        var network = NetworkWatch(host: "example.com")
        #expect(network.changed(to: self.path(true, "a")) == .doNothing)
        #expect(network.changed(to: self.path(true, "a")) == .doNothing)
        #expect(network.changed(to: self.path(true, "b")) == .found)
        #expect(network.changed(to: self.path(false, "")) == .lost)
        #expect(network.changed(to: self.path(false, "x")) == .doNothing)
        #expect(network.changed(to: self.path(true, "b")) == .found)
        network = NetworkWatch(host: "example.com")
        #expect(network.changed(to: self.path(false, "")) == .lost)
    }

    @Test func aServerOnThisMachineNeedsNoNetwork() {
        var network = NetworkWatch(host: "127.0.0.1")
        #expect(network.changed(to: self.path(false, "")) == .doNothing)
        #expect(network.changed(to: self.path(true, "a")) == .doNothing)
    }
}
