import ApusChatClient
import SwiftUI

/// A small chat application: sign in, a list of conversations, a thread, a composer and a search.
@main
struct SwiftUIChatApp: App {
    @State private var session = ChatSession()

    var body: some Scene {
        WindowGroup {
            if let client = session.client {
                ConversationList(client: client)
                    .toolbar { Button("Sign out") { Task { await session.signOut() } } }
            } else {
                SignInView(session: session)
            }
        }
    }
}
