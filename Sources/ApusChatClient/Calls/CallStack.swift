public import ApusChatProtocol

/// The WebRTC library of an application, for a ``CallController``.
///
/// The controller decides when connections are made and negotiated. The stack owns the media: it
/// opens the microphone and the camera, adds their tracks to its connections, and shows received
/// tracks.
@MainActor
public protocol CallStack: AnyObject {
    /// Opens the media, before the call is started or answered.
    ///
    /// - Parameter media: The media that the user sends.
    /// - Throws: An error if the media cannot be used. The call is then not started or answered.
    func open(_ media: CallMedia) async throws

    /// Makes a connection to another device, with the tracks of the opened media.
    ///
    /// If `isOffering`, the connection reports ``CallConnectionEvent/negotiationNeeded``
    /// immediately. Otherwise, the tracks are added to the transceivers that the other device
    /// offers.
    ///
    /// - Parameters:
    ///   - peer: The other device.
    ///   - configuration: The STUN and TURN servers.
    ///   - isOffering: Whether this device makes the first offer.
    ///   - report: The function to which the connection passes its events, in order and on any
    ///     thread.
    func connect(
        to peer: CallPeer.ID, configuration: CallConfiguration, isOffering: Bool,
        report: @escaping @Sendable (CallConnectionEvent) -> Void
    ) throws -> any CallConnection

    /// Joins the room of a media server.
    ///
    /// The default implementation throws `invalidUse`. An application without the client library of
    /// a media server uses it, and omits the media server from ``backends``.
    ///
    /// - Parameter access: The address of the media server, and the token for it.
    func join(_ access: CallAccess) async throws

    /// The kinds of media servers whose calls the application can join, such as `livekit`. Default:
    /// an empty array.
    var backends: [String] { get }

    /// Sends or stops sending the media of this device. Default: does nothing.
    ///
    /// - Parameter state: The media that the user sends from now on.
    func send(_ state: CallMediaState) async throws

    /// Closes the microphone and the camera, and leaves the room of a media server.
    func close()
}

extension CallStack {
    /// Throws `invalidUse`.
    public func join(_ access: CallAccess) async throws {
        throw ChatClientError(.invalidUse, message: "the application has no client for calls of \"\(access.backend)\"")
    }
    /// Returns an empty array.
    public var backends: [String] { [] }
    /// Does nothing.
    public func send(_ state: CallMediaState) async throws {}
}

/// A connection to one other device: the `RTCPeerConnection` of the library.
///
/// The controller calls one method at a time, and waits until the method returns.
@MainActor
public protocol CallConnection: AnyObject {
    /// Creates an offer. The offer restarts ICE if ``restartICE(_:)`` was called since the last
    /// offer.
    func makeOffer() async throws -> CallDescription
    /// Creates an answer to the remote offer.
    func makeAnswer() async throws -> CallDescription
    /// Sets the local description.
    func setLocal(_ description: CallDescription) async throws
    /// Returns to the state before the local offer (`rollback`, RFC 8829 section 4.1.10.2). If a
    /// negotiation is still needed afterwards, the connection reports it again.
    func rollBack() async throws
    /// Sets the remote description.
    func setRemote(_ description: CallDescription) async throws
    /// Adds a remote ICE candidate.
    func add(_ candidate: CallCandidate) async throws
    /// Requests new paths (RFC 8445 section 9). The connection then reports that it needs a
    /// negotiation.
    ///
    /// - Parameter configuration: The servers; nil if they did not change.
    func restartICE(_ configuration: CallConfiguration?)
    /// Closes the connection, which must not report events afterwards.
    func close()
}

/// An event that a ``CallConnection`` reports.
public enum CallConnectionEvent: Hashable, Sendable {
    /// A negotiation is needed (`negotiationneeded` of WebRTC).
    case negotiationNeeded
    /// A local ICE candidate was found.
    case candidate(CallCandidate)
    /// The state of the connection changed.
    case state(CallPeer.Connection)
}

/// A session description (RFC 8829).
public struct CallDescription: Hashable, Sendable {
    /// The type of a description.
    public enum Kind: Hashable, Sendable {
        /// An offer.
        case offer
        /// An answer.
        case answer
    }

    /// The type.
    public var kind: Kind
    /// The text (RFC 8866).
    public var sdp: String

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - kind: The type.
    ///   - sdp: The text.
    public init(_ kind: Kind, sdp: String) {
        self.kind = kind
        self.sdp = sdp
    }
}

/// An ICE candidate (`RTCIceCandidateInit` of W3C WebRTC 1.0).
public struct CallCandidate: Hashable, Sendable {
    /// The candidate attribute (RFC 8839 section 5.1).
    public var text: String
    /// The identification tag of the media (RFC 5888); nil if the library does not provide it.
    public var mid: String?
    /// The index of the media in the description; nil if the library does not provide it.
    public var index: Int64?
    /// The user name fragment of ICE; nil if the library does not provide it.
    public var fragment: String?

    /// Creates a candidate.
    ///
    /// - Parameters:
    ///   - text: The candidate attribute.
    ///   - mid: The identification tag of the media.
    ///   - index: The index of the media in the description; nil if the library does not provide
    ///     it.
    ///   - fragment: The user name fragment of ICE; nil if the library does not provide it.
    ///     Default: nil.
    public init(_ text: String, mid: String?, index: Int64?, fragment: String? = nil) {
        self.text = text
        self.mid = mid
        self.index = index
        self.fragment = fragment
    }
}
