import ApusChatProtocol
import ApusChatStorage
package import ApusJSON
package import HTTPTypes
package import Hummingbird
import Logging
import NIOCore

/// Converts errors to responses, and adds the security headers.
struct AnswerMiddleware: RouterMiddleware {
    typealias Context = HTTPContext

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            response = try Self.answer(to: error, context)
            // RFC 9110 section 9.3.2. The client would read a body as the start of the next
            // response.
            if request.method == .head { response = response.createHeadResponse() }
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.resourcePolicy] = "same-origin"
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
        }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    static func answer(to error: any Error, _ context: Context) throws -> Response {
        switch error {
        case let error as TusError: return try error.response
        case let error as ChatError:
            var response = try Response.json(error, status: HTTPResponse.Status(code: error.code.httpStatus))
            if let wait = error.retryAfter { response.headers[.retryAfter] = String(max(1, (wait + 999) / 1_000)) }
            return response
        case let error as WireError:
            let refusal = ChatError(error)
            return try .json(refusal, status: HTTPResponse.Status(code: refusal.code.httpStatus))
        case let error as StorageError:
            context.logger.error("Storage failed", metadata: ["error": "\(error)"])
            let refusal = ChatError(
                .storage, message: "The server cannot read or write its data. Try again later.", retryAfter: 5_000)
            return try .json(refusal, status: .serviceUnavailable)
        case let error as any HTTPResponseError:
            return try .json(ChatError(self.code(of: error.status), message: error.status.reasonPhrase), status: error.status)
        default:
            context.logger.error("Request failed", metadata: ["error": "\(error)"])
            return try .json(
                ChatError(.internal, message: "The server failed to process the request. Its log has the reason."),
                status: .internalServerError)
        }
    }

    private static func code(of status: HTTPResponse.Status) -> ChatError.Code {
        switch status {
        case .notFound: .notFound
        case .contentTooLarge: .tooLarge
        // Clients repeat a request after a server error, but not after a refusal.
        default: status.kind == .serverError ? .internal : .badRequest
        }
    }
}

extension Response {
    /// Returns a response whose body is the object as JSON.
    static func json(_ object: some WireObject, status: HTTPResponse.Status = .ok) throws -> Response {
        try .json(value: object.json, status: status)
    }

    package static func json(value: JSONValue, status: HTTPResponse.Status = .ok) throws -> Response {
        let bytes = try JSONWriter.bytes(of: value)
        return Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
