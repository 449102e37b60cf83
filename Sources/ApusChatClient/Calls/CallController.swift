import ApusChatCore
public import ApusChatProtocol
import ApusEventLoop
public import Observation

/// The calls of a client on this device: at most one at a time.
///
/// The controller uses the WebRTC library of the application through a ``CallStack``. It follows
/// the client from ``start()`` until the controller is released. The configuration of the client
/// must set ``ChatClientConfiguration/handlesCalls``.
@MainActor @Observable
public final class CallController {
    /// The state of the call.
    public private(set) var phase: CallPhase = .idle
    /// The conversation of the call; nil without a call.
    public private(set) var conversation: ConversationID?
    /// The user who started the call; nil without a call.
    public private(set) var caller: UserName?
    /// The media with which the call was started.
    public private(set) var media: CallMedia = .audio
    /// Whether the call takes place in a group.
    public private(set) var isGroup = false
    /// The time of the answer, in milliseconds since 1970; nil before the answer.
    public private(set) var startedAt: Int64?
    /// The other devices that take part. Empty in a call of a media server, whose client library
    /// manages the participants.
    public private(set) var peers: [CallPeer] = []
    /// The media that this device sends.
    public private(set) var local = CallMediaState()
    /// The media server of the call, with the token of this device; nil in other calls and before
    /// the answer. The controller passes it to ``CallStack/join(_:)``.
    public private(set) var access: CallAccess?
    /// The kind of the media server of the call, such as `livekit`; nil if the devices connect to
    /// each other.
    public private(set) var backend: String?

    let stack: any CallStack
    let client: ChatClient
    var engine: ChatEngine { self.client.engine }
    var me: UserName { self.client.user }
    var environment: ChatEnvironment { self.client.engine.environment }

    @ObservationIgnored private(set) var current: CallSession?
    @ObservationIgnored private var task: Task<Void, Never>?
    @ObservationIgnored private var ring: Task<Void, Never>?
    @ObservationIgnored private var signals: AsyncStream<SignalRequest>.Continuation?
    @ObservationIgnored private var sending: Task<Void, Never>?
    @ObservationIgnored var isChatOnline = false
    /// The task that last reported that this device has left a call.
    @ObservationIgnored var departure: Task<Void, Never>?
    /// The last call that rang. A later change of its message does not make it ring again.
    @ObservationIgnored var lastRing: EventPlace?
    /// The calls that ring in conversations whose heads have not arrived.
    @ObservationIgnored var early: [ConversationID: ChatEvent] = [:]

    /// Creates a controller without a call.
    ///
    /// - Parameters:
    ///   - client: The client, whose configuration must set `handlesCalls`.
    ///   - stack: The WebRTC library of the application.
    public init(client: ChatClient, stack: any CallStack) {
        self.client = client
        self.stack = stack
    }

    // The controller has no `stop()`. Its tasks reference it weakly, and `deinit` cancels them.
    deinit {
        self.task?.cancel()
        self.ring?.cancel()
        self.sending?.cancel()
    }

    /// Starts to follow the client. Shows a call that already rings.
    ///
    /// - Throws: `invalidUse` if the configuration of the client does not set `handlesCalls`.
    public func start() async throws(ChatClientError) {
        guard self.engine.configuration.handlesCalls else {
            throw ChatClientError(.invalidUse, message: "`handlesCalls` must be set in the configuration of the client")
        }
        guard self.task == nil else { return }
        let feed = CallFeed(self.client)
        self.task = Task { [weak self] in
            for await input in feed.inputs { await self?.handle(input) }
            feed.close()
        }
        // Signals are sent one after the other, so that a candidate does not overtake its offer.
        let (requests, continuation) = AsyncStream.makeStream(of: SignalRequest.self)
        self.signals = continuation
        self.sending = Task { [engine = self.engine] in
            for await request in requests { _ = try? await engine.ask(ChatVerbs.signal, request) }
        }
        guard await self.client.state == .online else { return }
        self.isChatOnline = true
        await self.wentOnline()
    }

    func send(_ request: SignalRequest) { self.signals?.yield(request) }

    /// Whether a call rings or is in progress on this device.
    var isBusy: Bool { self.current.map { !$0.isOver } ?? false }

    func makeSession() -> String {
        // The last 16 digits of a UUID of version 7 are the variant and 62 random bits (RFC 9562
        // section 5.7).
        String(self.environment.makeID().rawValue.filter { $0 != "-" }.suffix(16))
    }

    // MARK: The current call

    func begin(_ session: CallSession) {
        self.ring?.cancel()
        self.current = session
        self.changed()
    }

    /// Publishes the state of the call.
    func changed() {
        guard let current else { return self.clear() }
        self.phase = CallPhase(current.machine.phase)
        self.conversation = current.conversation
        self.caller = current.caller
        self.media = current.media
        self.isGroup = current.isGroup
        self.startedAt = current.startedAt
        self.peers = current.peers
        self.local = current.local
        self.access = current.access
        self.backend = current.backend
    }

    private func clear() {
        (self.phase, self.conversation, self.caller, self.startedAt) = (.idle, nil, nil, nil)
        (self.peers, self.access, self.backend, self.local) = ([], nil, nil, CallMediaState())
    }

    /// Removes a call that has ended. Call this method after the end was shown to the user.
    public func dismiss() {
        guard let current, current.isOver else { return }
        self.current = nil
        self.changed()
    }

    func closed(_ session: CallSession) {
        guard session === self.current else { return }
        self.ring?.cancel()
        self.stack.close()
    }

    /// Starts the timer that ends the ringing on this device. It is required if the message in
    /// which the server ends the ringing is lost, and in a group whose call other members have
    /// answered.
    func ring(_ session: CallSession, for time: Duration) {
        session.ringEnd = self.environment.now() + Int64(time / .milliseconds(1))
        self.ring?.cancel()
        self.ring = Task { [weak self, environment = self.environment] in
            guard (try? await environment.sleep(time)) != nil, !Task.isCancelled else { return }
            self?.ringEnded(session)
        }
    }

    private func ringEnded(_ session: CallSession) {
        guard session === self.current else { return }
        switch session.machine.phase {
        case .incoming: session.handle { $0.told(.missed, isOwn: false) }
        // The end of the call cancels the task of this timer, which would also cancel the report.
        case .outgoing: self.end(session, .noAnswer)
        case .starting, .joining, .active, .over: break
        }
    }
}
