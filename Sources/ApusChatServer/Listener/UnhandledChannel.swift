import NIOConcurrencyHelpers
import NIOCore

/// An asynchronous channel that no task handles yet.
///
/// SwiftNIO stops the process if a `NIOAsyncChannel` is released before a task has handled it, for
/// example when a client connects while the server closes. This class closes the channel instead.
final class UnhandledChannel<Inbound: Sendable, Outbound: Sendable>: Sendable {
    private let channel: NIOLockedValueBox<NIOAsyncChannel<Inbound, Outbound>?>

    init(_ channel: NIOAsyncChannel<Inbound, Outbound>) { self.channel = NIOLockedValueBox(channel) }

    deinit {
        guard let channel = self.take() else { return }
        Task { try? await channel.executeThenClose { _, _ in } }
    }

    /// Returns the channel, which the caller must handle; nil if another caller has already taken
    /// it.
    func take() -> NIOAsyncChannel<Inbound, Outbound>? { self.channel.withLockedValue { $0.take() } }
}
