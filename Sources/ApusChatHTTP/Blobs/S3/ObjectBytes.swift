import ApusS3
import NIOCore

/// The bytes of a range of an object. If a connection ends early, for example because the consumer
/// paused for longer than the store waits, the rest is requested again.
enum ObjectBytes {
    /// The maximum number of consecutive requests that return no byte.
    private static let failures = 3

    /// Returns the bytes of a range.
    ///
    /// - Parameters:
    ///   - first: The response to the request for the range.
    ///   - get: A function that requests the rest of the range.
    static func sequence(
        _ first: S3Answer, _ range: ClosedRange<Int64>, get: @escaping @Sendable (ClosedRange<Int64>) async throws -> S3Answer
    ) -> BlobBytes {
        // The object can be shorter than the range.
        let end = min(range.upperBound, range.lowerBound + (first.size ?? .max - range.lowerBound) - 1)
        return BlobBytes {
            var offset = range.lowerBound
            var failures = 0
            var iterator = first.body.makeAsyncIterator()
            return {
                while offset <= end {
                    do {
                        if var piece = try await iterator.next() {
                            let count = min(Int64(piece.readableBytes), end - offset + 1)
                            guard count > 0, let bytes = piece.readSlice(length: Int(count)) else { continue }
                            offset += count
                            failures = 0
                            return bytes
                        }
                    } catch {
                        try Task.checkCancellation()
                    }
                    failures += 1
                    guard failures <= Self.failures else {
                        throw S3Error(
                            .unreachable, message: "the object store returned no bytes of the object after byte \(offset) of \(end + 1)")
                    }
                    iterator = try await get(offset...range.upperBound).body.makeAsyncIterator()
                }
                return nil
            }
        }
    }
}
