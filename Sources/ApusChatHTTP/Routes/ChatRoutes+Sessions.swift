import ApusChatCore
import ApusChatProtocol
import HTTPTypes
import Hummingbird

extension ChatRoutes {
    /// Adds the routes of `devices` and `device.remove` for clients without Socket.IO.
    func addSessionRoutes(to router: Router<Context>) {
        router.get("/api/sessions") { request, context in
            try Response.json(try await self.devices(of: try await self.session(of: request), from: context.client))
        }
        router.delete("/api/sessions/:device") { request, context in
            let session = try await self.session(of: request)
            guard let device = DeviceID(try context.parameters.require("device")) else {
                throw ChatError(.notFound, message: "The last part of the path must be the id of a device.")
            }
            try self.accounts.charge(.session, to: [.device(session.device)] + context.client.keys)
            try await self.accounts.endDevices(device, of: session)
            return try Response.json(WireEmpty())
        }
    }
    /// Answers the verb `devices`.
    func devices(of session: AccountSession, from client: ClientOrigin) async throws -> DevicesAnswer {
        try self.accounts.charge(.request, to: [.account(session.user)] + client.keys)
        return try await self.accounts.devices(of: session)
    }

    /// Answers the verb `device.remove`.
    func removeDevice(_ request: DeviceRemoveRequest, of session: AccountSession, from client: ClientOrigin) async throws -> ChangeAnswer {
        try self.accounts.charge(.session, to: [.device(session.device)] + client.keys)
        return try await self.accounts.endDevices(request, of: session)
    }
}
