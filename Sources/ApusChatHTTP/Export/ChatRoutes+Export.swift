import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import HTTPTypes
import Hummingbird
import NIOCore

extension ChatRoutes {
    func addExportRoute(to router: Router<Context>) {
        router.get("/api/account/export") { request, context in
            let session = try await self.session(of: request)
            try self.accounts.charge(.export, to: [.account(session.user)])
            guard let place = self.files.place(for: String(session.user.rawValue)) else {
                throw ChatError(
                    .tooMany, message: "Too many downloads are running for this account. Wait until one has ended.", retryAfter: 1_000)
            }
            let export = AccountExport(session: session, accounts: self.accounts, chat: self.chat, files: self.files)
            let headers: HTTPFields = [
                .contentType: "application/zip", .contentDisposition: #"attachment; filename="apus-export.zip""#,
            ]
            let eventLoop = context.channel.eventLoop
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody { writer in
                    try await export.write { piece in
                        try await writer.write(piece)
                        // The writer suspends while the channel is not writable. It detects that
                        // state only after the event loop has performed the previous write.
                        try await eventLoop.submit {}.get()
                    }
                    try await writer.finish(nil)
                    withExtendedLifetime(place) {}
                })
        }
    }
}
