import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import ApusJSON
import ApusWebPush

extension Accounts {
    /// Sets or removes the subscription of the requesting device. It ends with the device.
    ///
    /// - Throws: `bad_request` for a subscription that cannot be used, `unsupported` for a service
    ///   that the server does not know.
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
        case .apns, .fcm, .unknown: throw ChatError(.unsupported, message: "The server sends pushes by Web Push only.", field: "kind")
        }
        let device = session.device
        try await self.database.write { storage in
            try storage.commit { changes, _ in changes.credentials.pushes = [(device, subscription)] }
        }
    }

    /// Removes a subscription that its push service does not know any more, unless the device has
    /// another one by now.
    package func forgetPush(of device: DeviceKey, _ subscription: String) async throws {
        try await self.database.write { storage in
            guard try storage.pushDevices(after: DeviceKey(device.rawValue - 1), limit: 1).first?.subscription == subscription else {
                return
            }
            try storage.commit { changes, _ in changes.credentials.pushes = [(device, nil)] }
        }
    }
}
