import ApusChatProtocol
import NIOConcurrencyHelpers

/// Keeps two tasks from changing the bytes and the row of the same blob at the same time.
///
/// An upload claims its blob until the row refers to the bytes. A collection claims the blobs that
/// it removes.
final class BlobClaims: Sendable {
    /// The claimed blobs, each with the tasks that wait for it, in order.
    private let waiting = NIOLockedValueBox<[BlobID: [CheckedContinuation<Void, Never>]]>([:])

    /// Performs an operation while the blob is claimed. Waits until earlier operations on the blob
    /// have ended.
    func with<Value>(_ blob: BlobID, _ body: () async throws -> Value) async rethrows -> Value {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isFree = self.waiting.withLockedValue { waiting in
                if waiting[blob] == nil {
                    waiting[blob] = []
                    return true
                }
                waiting[blob]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer { self.release(blob) }
        return try await body()
    }

    /// Claims those of the blobs that are free, and returns them. The caller releases each.
    func claim(_ blobs: [BlobID]) -> [BlobID] {
        self.waiting.withLockedValue { waiting in
            blobs.filter { blob in
                guard waiting[blob] == nil else { return false }
                waiting[blob] = []
                return true
            }
        }
    }

    func release(_ blob: BlobID) {
        let next = self.waiting.withLockedValue { waiting -> CheckedContinuation<Void, Never>? in
            guard var others = waiting[blob], !others.isEmpty else {
                waiting[blob] = nil
                return nil
            }
            let next = others.removeFirst()
            waiting[blob] = others
            return next
        }
        next?.resume()
    }
}
