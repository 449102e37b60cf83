// Linux has no SwiftUI: `scripts/check-swiftui` type-checks this file with a stub.
#if canImport(SwiftUI)
    import ApusEventLoop
    import ApusSocketIOClient
    import SwiftUI

    @MainActor @Observable final class ChatModel {
        private(set) var lines: [String] = []
        private let manager = SocketIOManager(url: "https://chat.example.com")

        func run() async {
            let socket = manager.defaultSocket
            let messages = socket.messages("chat message", as: String.self, bufferingPolicy: .bufferingNewest(1000))
            socket.open()
            for await text in messages { lines.append(text) }
        }

        func send(_ text: String) { manager.defaultSocket.emit("chat message", text) }
        func reconnect() { manager.reconnect() }
    }

    struct ChatView: View {
        @State private var model = ChatModel()
        @Environment(\.scenePhase) private var phase

        var body: some View {
            List(model.lines.indices, id: \.self) { Text(model.lines[$0]) }
                .task { await model.run() }
                .onChange(of: phase) { old, _ in if old == .background { model.reconnect() } }
        }
    }
#endif
