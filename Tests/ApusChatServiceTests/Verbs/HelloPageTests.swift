import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatService

/// The answer to `hello`.
@Suite struct HelloPageTests {
    private func hello(
        _ world: ViewWorld, of user: Int64 = 1, _ configure: (inout HelloRequest) -> Void = { _ in }
    ) throws -> HelloAnswer {
        var request = HelloRequest(device: HelloDevice(name: "Test", platform: "test"))
        configure(&request)
        return try world.context(of: user).hello(
            request, limits: HelloLimits(blobBytes: 9), features: ["edit"], device: DeviceKey(31), at: 77)
    }

    private func code(_ body: () throws -> Void) -> ChatError? {
        do {
            try body()
            return nil
        } catch { return error as? ChatError }
    }

    @Test func theAnswerNamesTheSession() throws {
        let answer = try self.hello(try ViewWorld())
        let limits =
            #"{"request_bytes":131072,"text_length":8000,"blob_bytes":9,"group_members":10000,"edit_seconds":172800,"recall_seconds":172800}"#
        let device = DeviceID(number: 31).rawValue
        #expect(
            try answer.json
                == wire(
                    #"""
                    {"version":1,"features":["edit"],"limits":\#(limits),"epoch":"e1","at":77,
                    "user":{"name":"alice","nick":"Alice","online":true},"device":"\#(device)","self":"\#(conversationText(1_000_001))"}
                    """#))
    }

    @Test func theVersionIsTheLowerOne() throws {
        let world = try ViewWorld()
        for (wanted, version) in [(1, 1), (2, 1), (1_000_000, 1)] as [(Int64, Int64)] {
            #expect(try self.hello(world) { $0.version = wanted }.version == version)
        }
    }

    /// Each case is the epoch and the `sync` of a request, and whether the answer has heads.
    @Test(
        arguments: [
            (nil, nil, nil, false), (nil, "", nil, true), ("e1", "", nil, true), ("e1", "e1.0", nil, true), ("e2", "", nil, false),
            ("e2", "e1.0", nil, false), ("e1", "e9.0", nil, false), ("e1", "e1.99", nil, false), (nil, "junk", nil, false),
        ] as [(String?, String?, String?, Bool)])
    func aSyncIsAnsweredUnlessTheDataIsOther(epoch: String?, since: String?, page: String?, isAnswered: Bool) throws {
        let world = try ViewWorld()
        let answer = try self.hello(world) {
            $0.epoch = epoch.flatMap { PageToken($0) }
            $0.sync = since.map { SyncRequest(since: PageToken($0)) }
        }
        #expect((answer.sync != nil) == isAnswered)
        #expect(answer.epoch.rawValue == "e1")
    }

    /// An unknown page token is an error of the client, which is refused.
    @Test func aWrongPageIsRefused() throws {
        let error = self.code { _ = try self.hello(try ViewWorld()) { $0.sync = SyncRequest(page: PageToken("h~x")) } }
        #expect(error?.code == .badRequest && error?.field == "page")
    }

    @Test func theClientReadsTheFramesThatTheServerSends() throws {
        let world = try ViewWorld()
        for (bytes, isAccepted) in [(1_024, false), (262_143, false), (262_144, true), (.max, true)] as [(Int64, Bool)] {
            let error = self.code { _ = try self.hello(world) { $0.frameBytes = bytes } }
            #expect((error == nil) == isAccepted)
            #expect(isAccepted || (error?.code == .unsupported && error?.field == "frame_bytes"))
        }
    }

    @Test(arguments: [AccountState.suspended, .deleted]) func aClosedAccountIsRefused(state: AccountState) throws {
        let world = try ViewWorld()
        try world.account(1) { $0.state = state }
        #expect(self.code { _ = try self.hello(world) }?.code == .unauthorized)
        #expect(self.code { _ = try self.hello(world, of: 99) }?.code == .unauthorized, "an account that does not exist")
        #expect(self.code { _ = try self.hello(world, of: 2) } == nil)
    }
}
