import ApusSocketIOProtocol
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ApusSocketIOServer

@Suite(.timeLimit(.minutes(5))) struct SocketIOAdminLoginTests {
    @Test func theQueueIsBoundedForAllAndForEach() {
        var queue = SocketIOLoginQueue(maximum: 3, maximumPerAddress: 2)
        #expect(queue.enter(from: "a") == true)
        #expect(queue.enter(from: "a") == true)
        #expect(queue.enter(from: "a") == false)
        #expect(queue.enter(from: nil) == true)
        #expect(queue.enter(from: "b") == false)
        queue.leave(from: "a")
        #expect(queue.enter(from: "b") == true)
        queue.leave(from: nil)
        #expect(queue.enter(from: "a") == true)
        #expect(queue.enter(from: "a") == false)
    }

    @Test func aClientWithASessionSkipsTheQueue() async throws {
        let server = SocketIOServer(configuration: .init(), logger: Logger(label: "test"))
        let password = try SocketIOAdminPassword(hashing: "secret", logRounds: 4)
        server.enableAdmin(.init(authentication: .basic(username: "admin", password: password)))
        let login = #"0/admin,{"username":"admin","password":"secret"}"#
        let first = try await AsyncPollingClient(server)
        try await first.post(login)
        var packets: [String] = []
        while !packets.contains(where: { $0.hasPrefix("2/admin,[\"config\"") }) { packets += try await first.poll() }
        let told = try #require(packets.first { $0.hasPrefix("2/admin,[\"session\"") })
        let session = try #require(told.firstMatch(of: /"([0-9a-f]{32})"/)?.1)
        let gate = try #require(server.admin?.gate)
        gate.queue.withLockedValue { queue in
            for address in 0..<16 { _ = queue.enter(from: "\(address)") }
        }
        let late = try await AsyncPollingClient(server)
        try await late.post(login)
        #expect(try await late.poll() == [#"4/admin,{"message":"too many logins are in progress; try again later"}"#])
        let again = try await AsyncPollingClient(server)
        try await again.post("0/admin,{\"sessionId\":\"\(session)\"}")
        #expect(try await again.poll().first?.hasPrefix(#"0/admin,{"sid":""#) == true)
    }
}
