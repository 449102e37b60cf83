import ApusChatProtocol
import NIOConcurrencyHelpers

@testable import ApusChatClient

/// A stack without media, which records its calls and the connections that it creates.
@MainActor
final class ScriptedStack: CallStack {
    private(set) var log: [String] = []
    private(set) var connections: [CallPeer.ID: ScriptedConnection] = [:]
    private(set) var configurations: [CallConfiguration] = []
    var openError: (any Error)?
    var backends: [String] = []
    var rooms: [CallAccess] = []
    /// Whether a connection reports that it is connected as soon as both descriptions are set.
    var connectsByItself = true
    /// The closures that the next call of a method runs, by the name of the method.
    var during: [String: @MainActor () async -> Void] = [:]

    func open(_ media: CallMedia) async throws {
        self.log.append("open \(media.rawValue)")
        await self.during.removeValue(forKey: "open")?()
        if let openError { throw openError }
    }

    func connect(
        to peer: CallPeer.ID, configuration: CallConfiguration, isOffering: Bool,
        report: @escaping @Sendable (CallConnectionEvent) -> Void
    ) throws -> any CallConnection {
        let connection = ScriptedConnection(self, report: report)
        self.connections[peer] = connection
        self.configurations.append(configuration)
        self.log.append("connect \(peer.user) \(isOffering ? "offering" : "waiting")")
        if isOffering { report(.negotiationNeeded) }
        return connection
    }

    func join(_ access: CallAccess) async throws {
        self.rooms.append(access)
        await self.during.removeValue(forKey: "join")?()
    }

    func send(_ state: CallMediaState) async throws {
        self.log.append("send")
        await self.during.removeValue(forKey: "send")?()
    }

    func close() { self.log.append("close") }

    func connection(to user: UserName) -> ScriptedConnection? {
        self.connections.first { $0.key.user == user && !$0.value.isClosed }?.value
    }
}

/// A connection with the signaling states of RFC 8829, section 3.2, which records its calls.
@MainActor
final class ScriptedConnection: CallConnection {
    enum State { case stable, haveLocalOffer, haveRemoteOffer }

    let report: @Sendable (CallConnectionEvent) -> Void
    private unowned let stack: ScriptedStack
    private(set) var state = State.stable
    private(set) var log: [String] = []
    private(set) var candidates: [CallCandidate] = []
    private(set) var isClosed = false
    private var hasRemote = false
    private var generation = 1
    private var restarts = false

    init(_ stack: ScriptedStack, report: @escaping @Sendable (CallConnectionEvent) -> Void) {
        self.stack = stack
        self.report = report
    }

    func makeOffer() async throws -> CallDescription {
        await Task.yield()
        if self.restarts { self.generation += 1 }
        self.restarts = false
        return CallDescription(.offer, sdp: "offer \(self.generation)")
    }

    func makeAnswer() async throws -> CallDescription {
        guard self.state == .haveRemoteOffer else { throw WrongState() }
        await Task.yield()
        return CallDescription(.answer, sdp: "answer \(self.generation)")
    }

    func setLocal(_ description: CallDescription) async throws {
        await Task.yield()
        switch (description.kind, self.state) {
        case (.offer, .stable): self.state = .haveLocalOffer
        case (.answer, .haveRemoteOffer): self.state = .stable
        default: throw WrongState()
        }
        self.log.append("local \(description.sdp)")
        self.report(.candidate(CallCandidate("candidate:\(self.generation)", mid: "0", index: 0)))
        self.connected()
    }

    func rollBack() async throws {
        guard self.state == .haveLocalOffer else { throw WrongState() }
        self.state = .stable
        self.log.append("rollback")
    }

    func setRemote(_ description: CallDescription) async throws {
        await Task.yield()
        switch (description.kind, self.state) {
        case (.offer, .stable): self.state = .haveRemoteOffer
        case (.answer, .haveLocalOffer): self.state = .stable
        default: throw WrongState()
        }
        self.hasRemote = true
        self.log.append("remote \(description.sdp)")
        self.connected()
    }

    private func connected() {
        if self.state == .stable, self.hasRemote, self.stack.connectsByItself { self.report(.state(.connected)) }
    }

    func add(_ candidate: CallCandidate) async throws {
        guard self.hasRemote else { throw WrongState() }
        self.candidates.append(candidate)
    }

    func restartICE(_ configuration: CallConfiguration?) {
        self.log.append("restart")
        self.restarts = true
        self.report(.negotiationNeeded)
    }

    func close() { self.isClosed = true }

    struct WrongState: Error {}
}

/// A clock whose waits of more than two seconds end only when the test advances it. Shorter waits
/// end after a few turns of the other tasks.
final class ScriptedClock: Sendable {
    private struct State {
        var now: Int64 = 1_700_000_000_000
        var last = 0
        var waits: [Int: (deadline: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }
    private let state = NIOLockedValueBox(State())

    var environment: ChatEnvironment {
        var environment = ChatEnvironment.test
        environment.now = { self.state.withLockedValue { $0.now } }
        environment.sleep = { try await self.sleep($0) }
        return environment
    }

    private func sleep(_ delay: Duration) async throws {
        guard delay > .seconds(2) else {
            for _ in 0..<20 { await Task.yield() }
            return try Task.checkCancellation()
        }
        let id = self.state.withLockedValue { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = self.state.withLockedValue { state in
                    guard !Task.isCancelled else { return true }
                    state.waits[id] = (state.now + Int64(delay / .milliseconds(1)), continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            self.state.withLockedValue { $0.waits.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Whether a wait ends in exactly this time. A wait that starts after an advance needs a
    /// further one, so a test looks for the wait before it advances the clock.
    func isWaiting(_ milliseconds: Int64) -> Bool {
        self.state.withLockedValue { state in state.waits.values.contains { $0.deadline == state.now + milliseconds } }
    }

    func advance(by milliseconds: Int64) {
        let due = self.state.withLockedValue { state in
            state.now += milliseconds
            let due = state.waits.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.waits[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for wait in due { wait.continuation.resume() }
    }
}
