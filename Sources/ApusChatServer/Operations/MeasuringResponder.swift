import Hummingbird

/// Counts the answers of all routes, also of failures.
struct MeasuringResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: RequestContext {
    let base: Base
    let metrics: ServerMetrics

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let response = try await self.base.respond(to: request, context: context)
            self.metrics.answered(response.status, in: ContinuousClock.now - start)
            return response
        } catch {
            self.metrics.answered(.internalServerError, in: ContinuousClock.now - start)
            throw error
        }
    }
}
