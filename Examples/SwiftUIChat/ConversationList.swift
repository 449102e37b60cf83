import ApusChatClient
import ApusChatProtocol
import SwiftUI

/// The conversations, pinned and newest first.
struct ConversationList: View {
    let client: ChatClient
    @State private var model: ConversationListModel
    @State private var search: SearchModel

    init(client: ChatClient) {
        self.client = client
        self.model = ConversationListModel(client: client)
        self.search = SearchModel(client: client)
    }

    var body: some View {
        NavigationStack {
            List {
                if search.query.isEmpty {
                    ForEach(model.conversations, id: \.conversation) { head in
                        NavigationLink(value: head.conversation) { ConversationRow(head: head, model: model) }
                    }
                } else {
                    ForEach(search.hits) { hit in
                        NavigationLink(value: hit.message.conversation) { Text(hit.snippet).lineLimit(2) }
                    }
                }
            }
            .searchable(text: $search.query)
            .navigationTitle(model.connection == .online ? "Chats" : "Connecting …")
            .navigationDestination(for: ConversationID.self) { id in
                ThreadView(client: client, conversation: id)
            }
        }
        .task { await model.start() }
    }
}

/// One conversation: its title, the newest message and the number of unread ones.
struct ConversationRow: View {
    let head: ChatHead
    let model: ConversationListModel

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                Text(model.title(of: head)).font(.headline)
                Text(head.last?.text ?? "").font(.subheadline).foregroundStyle(.secondary).lineLimit(1)
                if let contact = model.looksLike(head) { Text("Not \(contact.rawValue), but a similar name").foregroundStyle(.red) }
            }
            Spacer()
            if head.unread > 0 { Text("\(head.unread)").font(.caption).padding() }
        }
    }
}
