package import ApusChatCore
package import ApusChatStorage

/// The signed-in device that a request comes from.
package struct Requester: Sendable, Hashable {
    package var user: UserKey
    package var device: DeviceKey
    /// The owners of the budgets of the client's address.
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
