import ApusChatCore
import ApusChatProtocol
import Logging

/// Carries out the actions of a ``PeerNegotiation`` on the application's connection to one other
/// device, one action at a time.
@MainActor
final class CallPeerRunner {
    private enum Input: Sendable {
        case event(CallConnectionEvent)
        case signal(CallSignal.Content)
        case resume
        case restart(CallConfiguration?)
    }

    /// The values and functions of the call that the runner uses.
    struct Owner {
        var environment: ChatEnvironment
        var logger: Logger
        var isChatOnline: @MainActor () -> Bool
        var send: @MainActor (CallSignal.Content) -> Void
        var changed: @MainActor () -> Void
        /// The callback for a device that was not reached within the time limit.
        var lost: @MainActor () -> Void
    }

    private(set) var peer: CallPeer
    private let owner: Owner
    private var negotiation: PeerNegotiation
    private var patience = PeerPatience()
    private var connection: (any CallConnection)?
    /// The last own offer, which is sent again after a reconnection of the chat.
    private var offer: CallDescription?
    private let inputs: AsyncStream<Input>.Continuation
    private var task: Task<Void, Never>?
    private var timer: Task<Void, Never>?

    init(_ id: CallPeer.ID, isOffering: Bool, configuration: CallConfiguration, stack: any CallStack, owner: Owner) throws {
        self.peer = CallPeer(id: id, connection: .connecting, media: CallMediaState(), wasConnected: false)
        self.owner = owner
        self.negotiation = PeerNegotiation(isPolite: !isOffering)
        let (stream, inputs) = AsyncStream.makeStream(of: Input.self)
        self.inputs = inputs
        self.connection = try stack.connect(to: id, configuration: configuration, isOffering: isOffering) { inputs.yield(.event($0)) }
        self.task = Task { [weak self] in
            for await input in stream { await self?.handle(input) }
        }
        self.carryOut(self.patience.began(at: owner.environment.now()))
    }

    func close() {
        self.inputs.finish()
        self.task?.cancel()
        self.timer?.cancel()
        self.connection?.close()
        self.connection = nil
    }

    // MARK: Events

    func received(_ content: CallSignal.Content) { self.inputs.yield(.signal(content)) }
    func resume() { self.inputs.yield(.resume) }
    func restartICE(_ configuration: CallConfiguration?) { self.inputs.yield(.restart(configuration)) }
    func show(_ media: CallMediaState) { self.peer.media = media }

    private func handle(_ input: Input) async {
        switch input {
        case .event(.negotiationNeeded): await self.perform(self.negotiation.needed())
        case .event(.candidate(let candidate)):
            self.owner.send(
                .candidate(text: candidate.text, mid: candidate.mid, index: candidate.index, fragment: candidate.fragment))
        case .event(.state(let state)): self.changed(to: state)
        case .signal(.offer(let sdp)): await self.perform(self.negotiation.receivedOffer(), CallDescription(.offer, sdp: sdp))
        case .signal(.answer(let sdp)): await self.perform(self.negotiation.receivedAnswer(), CallDescription(.answer, sdp: sdp))
        case .signal(.candidate(let text, let mid, let index, let fragment)):
            await self.add(CallCandidate(text, mid: mid, index: index, fragment: fragment))
        case .signal: break
        case .resume: await self.perform(self.negotiation.resumed(isConnected: self.peer.connection == .connected))
        case .restart(let configuration):
            if self.negotiation.networkChanged() == .restartICE { self.connection?.restartICE(configuration) }
        }
    }

    // MARK: Negotiation

    private func perform(_ action: PeerNegotiation.Action, _ remote: CallDescription? = nil) async {
        guard let connection else { return }
        do {
            switch action {
            case .offer:
                let offer = try await connection.makeOffer()
                try await connection.setLocal(offer)
                self.offer = offer
                self.owner.send(.offer(sdp: offer.sdp))
            case .answer(let rollsBack):
                guard let remote else { return }
                if rollsBack { try await connection.rollBack() }
                try await connection.setRemote(remote)
                let answer = try await connection.makeAnswer()
                try await connection.setLocal(answer)
                self.owner.send(.answer(sdp: answer.sdp))
                await self.perform(self.negotiation.settled())
            case .applyAnswer:
                guard let remote else { return }
                try await connection.setRemote(remote)
                await self.perform(self.negotiation.settled())
            case .repeatOffer: if let offer { self.owner.send(.offer(sdp: offer.sdp)) }
            case .announce: self.owner.send(.join())
            case .restartICE: connection.restartICE(nil)
            case .addCandidate, .tryCandidate, .doNothing: break
            }
        } catch {
            if action == .offer { self.negotiation.offerFailed() }
            self.report(error, "\(action)")
        }
    }

    private func add(_ candidate: CallCandidate) async {
        let action = self.negotiation.receivedCandidate()
        do { try await self.connection?.add(candidate) } catch {
            if action == .addCandidate { self.report(error, "candidate") }
        }
    }

    /// Logs a failed step. The timer that repairs the connection also handles this failure.
    private func report(_ error: any Error, _ step: String) {
        self.owner.logger.warning("A step of a call failed", metadata: ["call.step": "\(step)", "call.error": "\(error)"])
    }

    // MARK: The state of the connection

    private func changed(to state: CallPeer.Connection) {
        guard self.connection != nil else { return }
        self.peer.connection = state
        if state == .connected { self.peer.wasConnected = true }
        let connection: PeerPatience.Connection =
            switch state {
            case .connecting: .connecting
            case .connected: .connected
            case .disconnected: .disconnected
            case .failed: .failed
            }
        self.carryOut(self.patience.changed(to: connection, at: self.owner.environment.now()))
        self.owner.changed()
    }

    private func timerFired() {
        guard self.connection != nil else { return }
        self.carryOut(self.patience.timerFired(at: self.owner.environment.now(), isChatOnline: self.owner.isChatOnline()))
    }

    private func carryOut(_ action: PeerPatience.Action) {
        switch action {
        case .startTimer(let delay): self.startTimer(delay)
        case .cancelTimer: self.timer?.cancel()
        case .repair(let delay):
            self.resume()
            self.startTimer(delay)
        case .giveUp: self.owner.lost()
        case .doNothing: break
        }
    }

    private func startTimer(_ delay: Duration) {
        self.timer?.cancel()
        self.timer = Task { [weak self, environment = self.owner.environment] in
            guard (try? await environment.sleep(delay)) != nil, !Task.isCancelled else { return }
            self?.timerFired()
        }
    }
}
