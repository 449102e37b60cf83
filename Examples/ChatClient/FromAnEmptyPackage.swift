// The code of the page "From an empty package to a chat with pictures". `scripts/check-snippets`
// compares the two.
import ApusChatClient
import ApusChatProtocol
import ApusEventLoop
import Foundation

func signedIn(folder: String, password: String) async throws -> ChatClient {
    let accounts = try ChatAccounts(folder: folder)
    if let account = accounts.current {
        return try await accounts.open(account)
    }
    return try await accounts.signIn(server: "https://chat.example.com", name: "alice", password: password)
}

func sayHello(with chat: ChatClient) async throws {
    let bob = try await chat.conversation(with: "bob")
    try await bob.send("在吗？")
}

func printNews(of chat: ChatClient) async {
    for await update in chat.updates(bufferingPolicy: .bufferingNewest(1_000)) {
        switch update {
        case .messages(let conversation, let messages):
            for message in messages where message.body != nil {
                print(conversation, message.event.sender ?? "", message.text ?? "")
            }
        case .connection(let state): print(state)
        default: break
        }
    }
}

func printHistory(of conversation: ChatConversation) async throws {
    var page = try await conversation.messages(limit: 50)
    while page.hasEarlier, let first = page.messages.first?.seq {
        for message in page.messages { print(message.text ?? "") }
        page = try await conversation.messages(before: first, limit: 50)
    }
}

func sendPicture(at path: String, to conversation: ChatConversation) async throws {
    let message = try await conversation.send(file: path, type: "image/jpeg", caption: "The view from here")
    print(message.progress ?? 0)
}

func savePicture(of message: ChatMessage, with chat: ChatClient, to folder: URL) async throws {
    guard case .image(let image)? = message.body else { return }
    let preview = try await chat.download(image.blob, size: 320)
    try Data(preview).write(to: folder.appendingPathComponent("preview.jpg"))
}

func sendFormatted(to conversation: ChatConversation, bob: UserName) async throws {
    let message = ChatMarkdown.parse("**Lunch** at 12, @bob?", mentions: ["bob": bob])
    try await conversation.send(message.text, entities: message.entities)
}

func handleFailure(of message: ChatMessage, in conversation: ChatConversation) async throws {
    guard case .failed(let error)? = message.delivery, let id = message.event.id else { return }
    print(error.message)
    if error.code == .forbidden {
        try await conversation.discard(id)
    } else {
        try await conversation.retry(id)
    }
}
