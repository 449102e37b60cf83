package import ApusChatCore
package import ApusChatStorage

/// The signed-in device that sent a request.
package struct Requester: Sendable, Hashable {
    package var user: UserKey
    package var device: DeviceKey
    /// The keys of the rate limits of the client's address: the address and its block.
    package var origin: [RateKey]

    package init(user: UserKey, device: DeviceKey, origin: [RateKey] = []) {
        self.user = user
        self.device = device
        self.origin = origin
    }

    func command(_ action: Command.Action, _ identity: RequestIdentity?) -> Command {
        Command(actor: self.user, device: self.device, request: identity, action: action)
    }
}
