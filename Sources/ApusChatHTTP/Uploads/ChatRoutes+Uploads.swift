import ApusBytes
import ApusChatProtocol
import ApusChatStorage
import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Uploads by tus 1.0: the core protocol and the extensions creation, termination and expiration.
extension ChatRoutes {
    func addUploadRoutes(to router: Router<Context>) {
        let group = router.group("/api/uploads").add(middleware: TusMiddleware(maximumBytes: self.uploads.configuration.maximumBytes))
        for path in ["", ":upload"] as [RouterPath] { group.on(path, method: .options) { _, _ in Response(status: .noContent) } }
        group.post { request, context in try await self.create(request, context) }
        group.head(":upload") { request, context in try await self.offset(request, context) }
        group.patch(":upload") { request, context in try await self.append(request, context) }
        group.delete(":upload") { request, context in try await self.terminate(request, context) }
        // For environments that support only GET and POST (tus 1.0.0, "X-HTTP-Method-Override").
        group.post(":upload") { request, context in
            switch request.headers[.methodOverride] {
            case "PATCH": return try await self.append(request, context)
            case "DELETE": return try await self.terminate(request, context)
            default: throw HTTPError(.methodNotAllowed)
            }
        }
    }

    private func create(_ request: Request, _ context: Context) async throws -> Response {
        let session = try await self.session(of: request)
        guard let length = request.headers[.uploadLength].flatMap({ Int64(digits: $0) }) else {
            throw ChatError(
                .badRequest, message: "`Upload-Length` must be the size of the upload in bytes. `Upload-Defer-Length` is not supported.")
        }
        guard request.headers[.contentLength].flatMap({ Int64(digits: $0) }) ?? 0 == 0 else {
            throw ChatError(.badRequest, message: "The request that creates an upload must have no body. Send the bytes with PATCH.")
        }
        let part = try await self.uploads.create(length: length, for: session, from: context.client)
        var response = Response(status: .created, headers: [.location: "/api/uploads/" + part.id])
        self.describe(part, &response)
        return response
    }

    /// Answers with the offset up to which the bytes are on disk. Ends a running transfer, because
    /// a client that requests the offset has lost the connection of the transfer.
    private func offset(_ request: Request, _ context: Context) async throws -> Response {
        let part = try await self.part(request, context)
        if part.blob == nil { _ = try await self.files.threads.runIfActive { try part.begin() } }
        var response = Response(status: .ok, headers: [.uploadLength: String(part.length)])
        self.describe(part, &response)
        return response
    }

    private func terminate(_ request: Request, _ context: Context) async throws -> Response {
        try await self.uploads.remove(try await self.part(request, context))
        return Response(status: .noContent)
    }

    private func append(_ request: Request, _ context: Context) async throws -> Response {
        let session = try await self.session(of: request)
        let part = try self.uploads.part(try context.parameters.require("upload"), of: session)
        guard request.headers[.contentType] == "application/offset+octet-stream" else {
            throw TusError(status: .unsupportedMediaType, message: "`Content-Type` must be application/offset+octet-stream.")
        }
        guard let offset = request.headers[.uploadOffset].flatMap({ Int64(digits: $0) }) else {
            throw ChatError(.badRequest, message: "`Upload-Offset` must be the offset of the first byte of the body.")
        }
        let (announced, isOverflown) = offset.addingReportingOverflow(request.headers[.contentLength].flatMap { Int64(digits: $0) } ?? 0)
        guard !isOverflown, announced <= part.length else { throw Self.tooLong(part) }
        try self.uploads.beginTransfer(session, context.client)
        defer { self.uploads.endTransfer(session, context.client) }
        if part.blob == nil {
            try await self.receive(request, context, into: part, at: offset)
        } else if offset != part.length {
            throw ChatError(.conflict, message: "The upload is complete; `Upload-Offset` must be \(part.length).")
        }
        var response = Response(status: .noContent)
        if part.offset == part.length { _ = try await self.uploads.finish(part) }
        self.describe(part, &response)
        return response
    }

    /// Writes the body to disk. Bytes that arrived before an error are kept.
    private func receive(_ request: Request, _ context: Context, into part: UploadPart, at offset: Int64) async throws {
        let threads = self.files.threads
        let (transfer, durable) = try await threads.runIfActive { try part.begin() }
        guard offset == durable else {
            throw ChatError(
                .conflict, message: "`Upload-Offset` is \(offset), but the upload has \(durable) bytes. Continue at byte \(durable).")
        }
        let pace = UploadPace(minimumRate: self.uploads.configuration.minimumRate, channel: context.channel)
        defer { pace.stop() }
        let syncBytes = self.uploads.configuration.syncBytes
        var failure: (any Error)?
        do {
            for try await bytes in request.body {
                pace.receivedBytes(bytes.readableBytes)
                switch try await threads.runIfActive({ try part.append(bytes, transfer, syncBytes: syncBytes) }) {
                case .done: break
                case .ended: throw Self.continued
                case .tooLong: throw Self.tooLong(part)
                }
            }
        } catch let error as ChatError {
            failure = error
        } catch let error as StorageError {
            failure = error
        } catch {
            failure = ChatError(.badRequest, message: "The body is incomplete: \(error)")
        }
        let end = try await threads.runIfActive { try part.end(transfer) }
        if let failure { throw failure }
        // An earlier request may have completed the upload in the meantime.
        guard end != nil || part.blob != nil else { throw Self.continued }
    }

    private static let continued = ChatError(
        .conflict, message: "Another transfer has continued the upload. Request its offset, and continue from it.")

    private static func tooLong(_ part: UploadPart) -> ChatError {
        ChatError(.tooLarge, message: "The body exceeds the announced length of the upload, \(part.length) bytes.")
    }

    private func part(_ request: Request, _ context: Context) async throws -> UploadPart {
        let session = try await self.session(of: request)
        return try self.uploads.part(try context.parameters.require("upload"), of: session)
    }

    private func describe(_ part: UploadPart, _ response: inout Response) {
        response.headers[.uploadOffset] = String(part.offset)
        response.headers[.uploadExpires] = HTTPDate.text(part.expiresAt)
        guard let blob = part.blob else { return }
        response.headers[.chatBlob] = blob.id.rawValue
        response.headers[.chatType] = blob.type
        response.headers[.chatSize] = String(blob.size)
        if blob.width > 0 {
            response.headers[.chatWidth] = String(blob.width)
            response.headers[.chatHeight] = String(blob.height)
        }
        if blob.duration > 0 { response.headers[.chatDuration] = String(blob.duration) }
        if !blob.thumb.isEmpty { response.headers[.chatThumb] = blob.thumb }
    }
}

/// Closes a connection whose upload is slower than the minimum rate. The received bytes are kept,
/// and the client continues on another connection.
final class UploadPace: Sendable {
    static let seconds = 30
    private let count = NIOLockedValueBox(0)
    private let task: RepeatedTask

    init(minimumRate: Int, channel: any Channel) {
        let count = self.count
        let interval = TimeAmount.seconds(Int64(Self.seconds))
        self.task = channel.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let received = count.withLockedValue { count in
                defer { count = 0 }
                return count
            }
            if received < minimumRate * Self.seconds { channel.close(promise: nil) }
        }
    }

    func receivedBytes(_ bytes: Int) { self.count.withLockedValue { $0 += bytes } }

    func stop() { self.task.cancel() }
}

/// Formats dates of HTTP fields (RFC 9110 section 5.6.7).
enum HTTPDate {
    static func text(_ milliseconds: Int64) -> String {
        let (days, rest) = (milliseconds / 1_000).quotientAndRemainder(dividingBy: 86_400)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
        // Converts days to a date, as in Howard Hinnant's "chrono-Compatible Low-Level Date
        // Algorithms".
        let shifted = days + 719_468
        let era = shifted / 146_097
        let day = shifted - era * 146_097
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let name = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"][Int(month)]
        let fullYear = year + era * 400 + (month >= 10 ? 1 : 0)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekday), \(two(dayOfMonth)) \(name) \(fullYear) \(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
    }
}
