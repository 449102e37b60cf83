import ApusChatProtocol
import ApusChatStorage
import HTTPTypes
import Hummingbird

/// A refusal with a status code that only uploads use.
struct TusError: Error {
    let status: HTTPResponse.Status
    let message: String

    var response: Response {
        get throws { try .json(ChatError(.badRequest, message: self.message), status: self.status) }
    }
}

/// Checks the tus version of requests and adds it to responses.
///
/// Source: tus 1.0.0, "Headers" and "OPTIONS".
struct TusMiddleware: RouterMiddleware {
    typealias Context = HTTPContext
    static let version = "1.0.0"
    let maximumBytes: Int64

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        guard request.method != .options else { return self.options }
        var response: Response
        if request.headers[.tusResumable] == Self.version {
            do {
                response = try await next(request, context)
            } catch {
                response = try AnswerMiddleware.answer(to: error, context)
            }
        } else {
            response = try TusError(status: .preconditionFailed, message: "`Tus-Resumable` must be \(Self.version).").response
            response.headers[.tusVersion] = Self.version
        }
        response.headers[.tusResumable] = Self.version
        return response
    }

    private var options: Response {
        Response(
            status: .noContent,
            headers: [
                .tusResumable: Self.version, .tusVersion: Self.version, .tusExtension: "creation,termination,expiration",
                .tusMaxSize: String(self.maximumBytes),
            ])
    }
}
