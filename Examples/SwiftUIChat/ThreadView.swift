import ApusChatClient
import ApusChatProtocol
import SwiftUI

/// The messages of a conversation, with the composer below.
struct ThreadView: View {
    let client: ChatClient
    @State private var thread: ThreadModel
    @State private var composer: ComposerModel

    init(client: ChatClient, conversation: ConversationID) {
        self.client = client
        self.thread = ThreadModel(client: client, conversation: conversation)
        self.composer = ComposerModel(client: client, conversation: conversation)
    }

    var body: some View {
        VStack {
            ScrollView {
                LazyVStack(alignment: .leading) {
                    if thread.hasEarlier { ProgressView().task { await thread.loadEarlier() } }
                    ForEach(thread.rows) { message in
                        MessageRow(message: message, composer: composer, thread: thread)
                            .task { await thread.didShow(message) }
                    }
                    if thread.hasLater { ProgressView().task { await thread.loadLater() } }
                }
            }
            if !thread.typing.isEmpty { Text("\(thread.typing.count) writing …").font(.caption) }
            ComposerView(composer: composer)
        }
        .task {
            await thread.open()
            await composer.restore()
        }
        .onDisappear {
            Task {
                await composer.leave()
                await thread.close()
            }
        }
    }
}

/// One row: a message with its format and its way to the readers, or a change.
struct MessageRow: View {
    let message: ChatMessage
    let composer: ComposerModel
    let thread: ThreadModel

    var body: some View {
        VStack(alignment: message.isOwn ? .trailing : .leading) {
            if message.needsUpdate {
                Text("Update to see this message").foregroundStyle(.secondary)
            } else if message.event.state.isBlank {
                Text("This message was removed").foregroundStyle(.secondary)
            } else {
                Text(Self.formatted(message.spans))
            }
            if let progress = message.progress { ProgressView(value: progress) }
            if let delivery = message.delivery { Text(Self.name(of: delivery)).font(.caption).foregroundStyle(.secondary) }
            if let replies = message.event.replies { Text("\(replies.count) replies").font(.caption) }
        }
        .contextMenu {
            Button("Reply") { composer.reply(to: message) }
            if message.isOwn { Button("Edit") { composer.edit(message) } }
            if case .failed = message.delivery, let id = message.event.id {
                Button("Send again") { Task { try? await thread.conversation.retry(id) } }
                Button("Discard") { Task { try? await thread.conversation.discard(id) } }
            }
        }
    }

    /// The runs of a text with their formats.
    static func formatted(_ spans: [ChatTextSpan]) -> AttributedString {
        var result = AttributedString()
        for span in spans {
            var run = AttributedString(span.text)
            var intent: InlinePresentationIntent = []
            if span.kinds.contains(.bold) || span.kinds.contains(.mention) { intent.insert(.stronglyEmphasized) }
            if span.kinds.contains(.italic) { intent.insert(.emphasized) }
            if span.kinds.contains(.code) || span.kinds.contains(.pre) { intent.insert(.code) }
            if span.kinds.contains(.strike) { intent.insert(.strikethrough) }
            if !intent.isEmpty { run.inlinePresentationIntent = intent }
            if let url = span.url.flatMap({ URL(string: $0) }), ["http", "https", "mailto", "tel"].contains(url.scheme?.lowercased()) {
                run.link = url
            }
            result += run
        }
        return result
    }

    static func name(of delivery: DeliveryState) -> String {
        switch delivery {
        case .queued: "Waiting"
        case .uploading: "Uploading"
        case .sending: "Sending"
        case .sent: "Sent"
        case .delivered: "Delivered"
        case .read: "Read"
        case .failed(let error): error.message
        }
    }
}

/// The text field, the users who complete a mention, and the button that sends.
struct ComposerView: View {
    @Bindable var composer: ComposerModel

    var body: some View {
        VStack(alignment: .leading) {
            ForEach(composer.suggestions, id: \.name) { user in
                Button(user.nick ?? user.name.rawValue) { composer.complete(with: user) }
            }
            if case .reply(let message) = composer.mode { Text("Reply to: \(message.text ?? "")").lineLimit(1) }
            if let error = composer.error { Text(error.message).foregroundStyle(.red) }
            HStack {
                TextField("Message", text: $composer.text)
                    .onSubmit { Task { await composer.send() } }
                Button("Send") { Task { await composer.send() } }
                    .disabled(!composer.canSend)
            }
        }
        .padding()
    }
}
