// The code of the page "Calls". `scripts/check-snippets` compares the two.
import ApusChatClient

@MainActor func startCalls(folder: String, password: String, stack: any CallStack) async throws -> CallController {
    var configuration = ChatClientConfiguration()
    configuration.handlesCalls = true
    let accounts = try ChatAccounts(folder: folder, configuration: configuration)
    let chat = try await accounts.signIn(server: "https://chat.example.com", name: "alice", password: password)
    let calls = CallController(client: chat, stack: stack)
    try await calls.start()
    return calls
}
