import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import ApusJSON
import ApusWebPush

extension Accounts {
    /// Sets or removes the push subscription of the requesting device. It is removed with the
    /// session of the device.
    ///
    /// - Throws: `bad_request` for a subscription that is not valid, `unsupported` for another push
    ///   service than Web Push.
    package func setPush(_ request: PushSetRequest, of session: AccountSession) async throws {
        let subscription: String?
        switch request.service {
        case .none: subscription = nil
        case .web:
            let known: PushSubscription
            do throws(PushFieldError) { known = try PushSubscription(json: request.data ?? [:]) } catch {
                throw ChatError(.badRequest, message: "`\(error.field)` \(error.rule).", field: "data")
            }
            subscription = try JSONValue.object(known.json).jsonString()
        case .apns, .fcm, .unknown:
            throw ChatError(
                .unsupported, message: "`kind` must be `web` or `none`: the server supports no other push service.", field: "kind")
        }
        let device = session.device
        try await self.database.write { storage in
            try storage.commit { changes, _ in changes.credentials.pushes = [(device, subscription)] }
        }
    }

    /// Removes a subscription that no longer exists at its push service, unless the device has a
    /// newer subscription.
    package func forgetPush(of device: DeviceKey, _ subscription: String) async throws {
        try await self.database.write { storage in
            guard try storage.pushDevices(after: DeviceKey(device.rawValue - 1), limit: 1).first?.subscription == subscription else {
                return
            }
            try storage.commit { changes, _ in changes.credentials.pushes = [(device, nil)] }
        }
    }
}
