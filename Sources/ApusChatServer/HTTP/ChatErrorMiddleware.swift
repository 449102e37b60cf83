import ApusChatProtocol
import ApusJSON
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Converts errors to answers, and adds the security headers.
struct ChatErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as ChatError {
            context.logger.debug("Request refused", metadata: ["error": "\(error)"])
            response = try Self.json(error, status: Self.status(of: error.code))
        } catch let error as any HTTPResponseError {
            response = try Self.json(ChatError(Self.code(of: error.status), message: error.status.reasonPhrase), status: error.status)
        } catch {
            context.logger.error("Request failed", metadata: ["error": "\(error)"])
            response = try Self.json(
                ChatError(.internal, message: "the server failed to process the request"), status: .internalServerError)
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { response.headers[name] = "no-referrer" }
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
        }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status) throws -> Response {
        let bytes = try JSONWriter.bytes(of: try JSONValueEncoder().encode(value))
        return Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func code(of status: HTTPResponse.Status) -> ChatError.Code {
        switch status {
        case .notFound: .notFound
        case .contentTooLarge: .tooLarge
        // A client repeats what the server failed to do, and not what the server refused.
        default: status.kind == .serverError ? .internal : .badRequest
        }
    }

    private static func status(of code: ChatError.Code) -> HTTPResponse.Status {
        switch code {
        case .badRequest: return .badRequest
        case .unauthorized, .badCredentials: return .unauthorized
        case .forbidden: return .forbidden
        case .notFound: return .notFound
        case .conflict, .nameTaken: return .conflict
        case .tooLarge: return .contentTooLarge
        case .tooMany: return .tooManyRequests
        case .storage: return .serviceUnavailable
        default: return .internalServerError
        }
    }
}
