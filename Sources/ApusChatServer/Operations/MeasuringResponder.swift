import Hummingbird

/// Records the status and the duration of every response, including those of routes that throw.
struct MeasuringResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: RequestContext {
    let base: Base
    let metrics: ServerMetrics

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let response = try await self.base.respond(to: request, context: context)
            self.metrics.responded(response.status, after: ContinuousClock.now - start)
            return response
        } catch {
            self.metrics.responded(.internalServerError, after: ContinuousClock.now - start)
            throw error
        }
    }
}
