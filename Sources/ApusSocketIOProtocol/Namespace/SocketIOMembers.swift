public import ApusJSON

/// The namespaces that one client of a server has requested or joined. It decides what each packet
/// of the client means: whether it is for a member, starts or ends an admission, crossed a
/// DISCONNECT of the server, or violates the protocol.
///
/// `Member` is the server's value for a joined namespace, for example its socket. A single member
/// in `/`, the usual case, requires no allocation and no lookup. Inlinable, as
/// ``SocketIONameTable``.
///
/// Source: Socket.IO protocol v5 and v4, "Connection to a namespace" and "Disconnection from a
/// namespace".
@usableFromInline
package struct SocketIOMembers<Member> {
    @usableFromInline
    package enum State {
        /// The client's CONNECT awaits its answer. Transitions to `admitting`, `joined` or `left`,
        /// or is removed.
        case requested
        /// As `requested`, and the server has created the member. Transitions to `joined` or
        /// `left`, or is removed.
        case admitting(Member)
        /// The client left during its admission. The state is removed when the admission ends.
        /// Until then, another CONNECT is an error, so that a connection has one admission per
        /// namespace.
        case left
        /// Removed when the client leaves or the server disconnects it.
        case joined(Member)
    }

    @usableFromInline var root: State?
    @usableFromInline var others: [SocketIONameKey: State] = [:]
    /// The namespaces from which the server disconnected the client. Until the next CONNECT,
    /// packets for them are ignored, because the client may have sent them before it received the
    /// DISCONNECT. They do not count as members.
    @usableFromInline var disconnected: [SocketIONameKey] = []
    @usableFromInline let maximum: Int
    @usableFromInline let version: SocketIOVersion

    /// Creates the members of a new client. In version 4, the client has requested `/` already.
    ///
    /// - Parameters:
    ///   - version: The client's protocol version.
    ///   - maximum: The maximum number of namespaces that the client may have requested or joined.
    @inlinable
    package init(version: SocketIOVersion, maximum: Int) {
        self.version = version
        self.maximum = maximum
        self.root = version.joinsRootImplicitly ? .requested : nil
    }

    /// Whether the client has neither requested nor joined a namespace.
    @inlinable package var isEmpty: Bool { self.root == nil && self.others.isEmpty }

    @inlinable var count: Int { (self.root == nil ? 0 : 1) + self.others.count }

    @inlinable subscript(namespace: String) -> State? {
        get { namespace == "/" ? self.root : self.others[SocketIONameKey(namespace)] }
        set { if namespace == "/" { self.root = newValue } else { self.others[SocketIONameKey(namespace)] = newValue } }
    }

    /// Returns the member of a joined namespace; `nil` before its admission and after it has left.
    @inlinable
    @inline(__always)
    package func joined(in namespace: String) -> Member? {
        if namespace == "/" {
            if case .joined(let member) = self.root { member } else { nil }
        } else {
            if case .joined(let member) = self.others[SocketIONameKey(namespace)] { member } else { nil }
        }
    }

    /// The members of the joined namespaces, in no particular order.
    @inlinable package var joined: [Member] {
        ((self.root.map { [$0] } ?? []) + self.others.values).compactMap { if case .joined(let member) = $0 { member } else { nil } }
    }

    // MARK: Packets

    @usableFromInline
    package enum ReceivedAction {
        /// Pass the event to the member.
        case event(Member, name: String, arguments: SocketIOPayload, ackID: Int?)
        /// Pass the ack to the member.
        case ack(Member, id: Int, arguments: SocketIOPayload)
        /// Admit the client to the namespace: call ``join(_:in:)`` or ``endAdmission(in:)``.
        case admit(namespace: String, auth: SocketIOValue)
        /// Refuse the namespace: the client has requested or joined the maximum number.
        case refuse(namespace: String)
        /// The member has left.
        case leave(Member)
        /// The client left during its admission. The member is `nil` if it was not created yet.
        /// Call ``endAdmission(in:)`` when the admission ends.
        case abandon(Member?)
        /// The client sent the packet before it received a DISCONNECT.
        case ignore
    }

    /// Handles a packet of the client.
    ///
    /// The method is inlined and handles the common case first: an event or an ack for a member.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket`` if a client must not send the packet in
    ///   this state of its namespace.
    @inlinable
    @inline(__always)
    package mutating func received(_ packet: SocketIOPacket) throws(SocketIOError) -> ReceivedAction {
        if let member = self.joined(in: packet.namespace) {
            switch packet.content {
            case .event(let name, let arguments, let ackID): return .event(member, name: name, arguments: arguments, ackID: ackID)
            case .ack(let id, let arguments): return .ack(member, id: id, arguments: arguments)
            case .connect, .disconnect, .connectError: break
            }
        }
        return try self.receivedOther(packet)
    }

    /// Handles a packet that is neither an event nor an ack for a member.
    @inlinable
    mutating func receivedOther(_ packet: SocketIOPacket) throws(SocketIOError) -> ReceivedAction {
        let name = packet.namespace
        switch (self[name], packet.content) {
        case (_, .connect(let auth)):
            let (name, auth) = self.version.admission(namespace: name, auth: auth)
            guard self[name] == nil else { throw Self.error("the client sent a second CONNECT for \(name)") }
            self.disconnected.removeAll { $0 == SocketIONameKey(name) }
            guard self.count < self.maximum else { return .refuse(namespace: name) }
            self[name] = .requested
            return .admit(namespace: name, auth: auth)
        case (.joined(let member), .disconnect):
            self[name] = nil
            return .leave(member)
        case (_, .connectError): throw Self.error("the client sent CONNECT_ERROR, which only a server may send")
        case (.requested, .disconnect):
            self[name] = .left
            return .abandon(nil)
        case (.admitting(let member), .disconnect):
            self[name] = .left
            return .abandon(member)
        case (.left, .disconnect), (.left, .ack), (nil, .disconnect), (nil, .ack): return .ignore
        case (nil, .event) where self.disconnected.contains(SocketIONameKey(name)): return .ignore
        case (nil, .event): throw Self.error("the client sent an event for \(name), which it has not joined")
        case (.requested, .event), (.requested, .ack), (.admitting, .event), (.admitting, .ack), (.left, .event):
            throw Self.error("the client sent a packet for \(name) before its CONNECT was answered")
        case (.joined, .event), (.joined, .ack): return .ignore  // handled by the caller
        }
    }

    /// Throws unless the client may send attachments for the namespace: a partial packet occupies
    /// memory.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``.
    @inlinable
    package func checkPartialPacket(in namespace: String) throws(SocketIOError) {
        if case .joined = self[namespace] { return }
        guard !self.disconnected.contains(SocketIONameKey(namespace)) else { return }
        throw Self.error("the client sent a binary packet for \(namespace), which it has not joined")
    }

    @inlinable
    static func error(_ message: String) -> SocketIOError { SocketIOError(.malformedPacket, message: message) }

    // MARK: Admission

    /// Returns whether the client awaits the answer to its CONNECT.
    @inlinable
    package func isRequested(_ namespace: String) -> Bool {
        switch self[namespace] {
        case .requested, .admitting: true
        case .left, .joined, nil: false
        }
    }

    /// Records the member of an admission that takes time.
    @inlinable
    package mutating func admitting(_ member: Member, in namespace: String) {
        if self.isRequested(namespace) { self[namespace] = .admitting(member) }
    }

    /// Ends an admission: the member joins the namespace. Returns `false` if the client left during
    /// the admission.
    @inlinable
    package mutating func join(_ member: Member, in namespace: String) -> Bool {
        let isRequested = self.endAdmission(in: namespace)
        if isRequested { self[namespace] = .joined(member) }
        return isRequested
    }

    /// Ends an admission without a member. Returns `false` if the client left during the admission,
    /// so that it awaits no answer.
    @inlinable
    @discardableResult
    package mutating func endAdmission(in namespace: String) -> Bool {
        switch self[namespace] {
        case .requested, .admitting:
            self[namespace] = nil
            return true
        case .left:
            self[namespace] = nil
            return false
        case .joined, nil: return false
        }
    }

    // MARK: End

    /// Removes a member that the server disconnects. Returns `false` if the namespace is not
    /// joined.
    @inlinable
    package mutating func disconnect(from namespace: String) -> Bool {
        guard case .joined = self[namespace] else { return false }
        self[namespace] = nil
        // Bounded by the maximum number of namespaces. The oldest entry is removed first.
        self.disconnected.append(SocketIONameKey(namespace))
        if self.disconnected.count > self.maximum { self.disconnected.removeFirst() }
        return true
    }

    /// Removes and returns all states, in no particular order, at the end of the connection.
    @inlinable
    package mutating func removeAll() -> [State] {
        defer { (self.root, self.others) = (nil, [:]) }
        return (self.root.map { [$0] } ?? []) + self.others.values
    }
}

extension SocketIOMembers: Sendable where Member: Sendable {}
extension SocketIOMembers.State: Sendable where Member: Sendable {}
