import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Logging

/// One call on this device: its machine, the connections to the other devices, and the signals
/// between them.
@MainActor
final class CallSession {
    let conversation: ConversationID
    let isGroup: Bool
    private(set) var media: CallMedia
    /// The user who started the call.
    private(set) var caller: UserName
    /// The position of the call in the log; nil until the server has stored the call.
    var seq: Int64?
    /// The address of the media server of the call, and the token for it.
    var access: CallAccess?
    /// The kind of the media server of the call. It is known before ``access``.
    var backend: String?
    /// The time at which the ringing on this device ends, in milliseconds since 1970.
    var ringEnd: Int64 = 0
    /// The time of the answer, in milliseconds since 1970.
    private(set) var startedAt: Int64?
    private(set) var machine: DeviceCallMachine
    private(set) var local = CallMediaState()
    private var mesh: CallMesh
    private var runners: [CallMesh.Peer: CallPeerRunner] = [:]
    private var configuration = CallConfiguration()
    private var leaving: Task<Void, Never>?
    private var joining: Task<Void, Never>?
    private let engine: ChatEngine
    private let environment: ChatEnvironment
    /// Nil after the release of the controller. The session can outlive it by the tasks that are
    /// being cancelled.
    private weak var controller: CallController?

    init(
        _ controller: CallController, _ conversation: ConversationID, seq: Int64? = nil, media: CallMedia, isGroup: Bool,
        caller: UserName, phase: DeviceCallMachine.Phase
    ) {
        self.controller = controller
        self.engine = controller.engine
        self.environment = controller.environment
        self.conversation = conversation
        self.seq = seq
        self.media = media
        self.isGroup = isGroup
        self.caller = caller
        self.machine = DeviceCallMachine(phase, isGroup: isGroup)
        self.mesh = CallMesh(session: controller.makeSession(), me: controller.me, isGroup: isGroup)
        self.local.camera = media == .video
    }

    var isOver: Bool { self.machine.isOver }
    /// The random name of this device's participation in the call.
    var name: String { self.mesh.session }
    var peers: [CallPeer] { self.mesh.peers.compactMap { self.runners[$0]?.peer } }

    /// Requests the STUN and TURN servers. If the request fails, the connections are direct.
    func prepare() async {
        self.configuration = CallConfiguration(try? await self.engine.askPatiently(ChatVerbs.callServers, WireEmpty()))
    }

    /// Adopts the caller and the media of a call that another user started.
    func adopt(_ call: CallBody, of caller: UserName?) {
        self.caller = caller ?? self.caller
        self.media = call.media == .video ? .video : .audio
    }

    // MARK: The machine

    /// Passes an event to the machine, and carries out its action.
    func handle(_ event: (inout DeviceCallMachine) -> DeviceCallMachine.Action) {
        switch event(&self.machine) {
        case .connect:
            if self.startedAt == nil { self.startedAt = self.environment.now() }
            if self.access != nil { self.controller?.joinRoom(of: self) }
        case .end: self.close()
        case .accept, .ring, .doNothing: break
        }
        self.controller?.changed()
    }

    /// Handles a state of the call that the log reports.
    func told(_ state: CallState, isOwn: Bool, at time: Int64) {
        if state == .accepted, self.machine.phase != .incoming { self.startedAt = time }
        self.handle { $0.told(state, isOwn: isOwn) }
    }

    /// Announces this device to the other devices, after the call was answered.
    func join() async {
        guard self.access == nil else { return }
        let other = await self.controller?.peer(in: self.conversation)
        self.carryOut(self.mesh.join(other))
    }

    func leave(_ reason: DeviceCallMachine.Reason) {
        self.carryOut(self.mesh.leave())
        self.handle { $0.ended(reason) }
    }

    private func close() {
        self.leaving?.cancel()
        self.joining?.cancel()
        for runner in self.runners.values { runner.close() }
        self.runners = [:]
        self.controller?.closed(self)
    }

    // MARK: The other devices

    func received(_ push: SignalPush) {
        guard !self.isOver, let signal = CallSignal(push.data) else { return }
        self.carryOut(self.mesh.received(signal, from: push.sender, push.device, in: self.machine.phase))
    }

    func dismissed(_ users: [UserName]) { self.carryOut(self.mesh.dismissed(users)) }

    /// Handles a reconnection of the chat.
    func resume() async {
        guard self.machine.phase == .active, self.access == nil else { return }
        for runner in self.runners.values { runner.resume() }
        for peer in self.mesh.peers { self.sendState(to: peer) }
        let other = await self.controller?.peer(in: self.conversation)
        self.carryOut(self.mesh.resume(other))
    }

    /// Requests new paths after a change of the network.
    func networkChanged() async {
        guard self.machine.phase == .active else { return }
        var renewed: CallConfiguration?
        if let expiry = self.configuration.expiresAt, expiry <= self.environment.now() + 60_000 {
            await self.prepare()
            renewed = self.configuration
        }
        for runner in self.runners.values { runner.restartICE(renewed) }
    }

    /// Sends the state of this device's media to the other devices.
    func set(_ local: CallMediaState) {
        self.local = local
        for peer in self.mesh.peers { self.sendState(to: peer) }
        self.controller?.changed()
    }

    private func sendState(to peer: CallMesh.Peer) {
        self.send(
            .state(microphone: self.local.microphone, camera: self.local.camera, screen: self.local.screen), to: .peer(peer))
    }

    private func carryOut(_ actions: [CallMesh.Action]) {
        for action in actions where !self.isOver {
            switch action {
            case .send(let content, let target): self.send(content, to: target)
            case .connect(let peer, let offers): self.connect(peer, offers: offers)
            case .disconnect(let peer): self.runners.removeValue(forKey: peer)?.close()
            case .deliver(let peer, let content): self.runners[peer]?.received(content)
            case .showState(let peer, .state(let microphone, let camera, let screen)):
                self.runners[peer]?.show(CallMediaState(microphone: microphone, camera: camera, screen: screen))
            case .showState: break
            case .connected: self.handle { $0.connected() }
            case .answeredElsewhere: self.handle { $0.told(.accepted, isOwn: true) }
            case .end(let reason): self.controller?.end(self, reason)
            case .awaitEnd: self.awaitEnd()
            case .awaitPeers: self.awaitPeers()
            }
        }
        self.controller?.changed()
    }

    private func connect(_ peer: CallMesh.Peer, offers: Bool) {
        guard let controller else { return }
        let owner = CallPeerRunner.Owner(
            environment: self.environment, logger: self.engine.logger,
            isChatOnline: { [weak controller] in controller?.isChatOnline ?? false },
            send: { [weak self] in self?.send($0, to: .peer(peer)) },
            changed: { [weak controller] in controller?.changed() },
            lost: { [weak self] in
                guard let self else { return }
                self.carryOut(self.mesh.lost(peer))
            })
        let id = CallPeer.ID(user: peer.user, device: peer.device, session: peer.session)
        do {
            self.runners[peer] = try CallPeerRunner(
                id, isOffering: offers, configuration: self.configuration, stack: controller.stack, owner: owner)
            self.sendState(to: peer)
        } catch {
            self.engine.logger.warning("A connection of a call could not be opened", metadata: ["call.error": "\(error)"])
            self.carryOut(self.mesh.lost(peer))
        }
    }

    private func awaitEnd() {
        self.leaving = Task { [weak self, environment] in
            guard (try? await environment.sleep(CallMesh.leaveTime)) != nil, !Task.isCancelled, let self else { return }
            if !self.isOver, self.mesh.peers.isEmpty { self.controller?.end(self, .lost) }
        }
    }

    private func awaitPeers() {
        guard self.joining == nil else { return }
        self.joining = Task { [weak self, environment] in
            guard (try? await environment.sleep(CallMesh.joinTime)) != nil, !Task.isCancelled, let self else { return }
            self.joining = nil
            if !self.isOver, self.mesh.peers.isEmpty { self.controller?.end(self, .full) }
        }
    }

    private func send(_ content: CallSignal.Content, to target: CallMesh.Target) {
        guard let seq else { return }
        var signal = CallSignal(content, session: self.mesh.session)
        var request = SignalRequest(conversation: self.conversation, call: seq, data: [:])
        switch target {
        case .peer(let peer):
            signal.recipient = peer.session
            (request.recipient, request.device) = (peer.user, peer.device)
        case .user(let user): request.recipient = user
        case .participants: break
        }
        request.data = signal.data
        self.controller?.send(request)
    }
}
