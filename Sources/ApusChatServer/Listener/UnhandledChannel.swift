import NIOConcurrencyHelpers
import NIOCore

/// An asynchronous channel that no task handles yet.
///
/// SwiftNIO stops the process when a `NIOAsyncChannel` is released that no task has handled, such
/// as one that a client opens while the server closes. This class closes such a channel instead.
final class UnhandledChannel<Inbound: Sendable, Outbound: Sendable>: Sendable {
    private let channel: NIOLockedValueBox<NIOAsyncChannel<Inbound, Outbound>?>

    init(_ channel: NIOAsyncChannel<Inbound, Outbound>) { self.channel = NIOLockedValueBox(channel) }

    deinit {
        guard let channel = self.take() else { return }
        Task { try? await channel.executeThenClose { _, _ in } }
    }

    /// Returns the channel, which the caller must handle; nil if another caller has it.
    func take() -> NIOAsyncChannel<Inbound, Outbound>? { self.channel.withLockedValue { $0.take() } }
}
