import NIOConcurrencyHelpers

/// The place of one WebSocket among those a server admits. Given back once, however often that is said.
final class WebSocketTicket: Sendable {
    private let release: NIOLockedValueBox<(@Sendable () -> Void)?>

    init(release: @escaping @Sendable () -> Void) {
        self.release = NIOLockedValueBox(release)
    }

    func giveBack() {
        self.release.withLockedValue { $0.take() }?()
    }
}
