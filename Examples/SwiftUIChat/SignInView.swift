import SwiftUI

/// The fields of the first start.
struct SignInView: View {
    let session: ChatSession
    @State private var server = "https://"
    @State private var name = ""
    @State private var password = ""

    var body: some View {
        Form {
            TextField("Server", text: $server)
            TextField("Name", text: $name)
            SecureField("Password", text: $password)
            if let error = session.error { Text(error).foregroundStyle(.red) }
            Button("Sign in") { Task { await session.signIn(server: server, name: name, password: password) } }
                .disabled(name.isEmpty || password.isEmpty)
        }
        .task { await session.restore() }
    }
}
