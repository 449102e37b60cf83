import ApusChatProtocol
import HTTPTypes
import Hummingbird

extension ChatRoutes {
    /// The verbs `devices` and `device.remove` for clients without Socket.IO.
    func addSessionRoutes(to router: Router<Context>) {
        router.get("/api/sessions") { request, _ in
            try Response.json(try await self.accounts.devices(of: try await self.session(of: request)))
        }
        router.delete("/api/sessions/:device") { request, context in
            let session = try await self.session(of: request)
            guard let device = DeviceID(try context.parameters.require("device")) else {
                throw ChatError(.notFound, message: "There is no such device.")
            }
            try await self.accounts.endDevices(device, of: session)
            return try Response.json(WireEmpty())
        }
    }
}
