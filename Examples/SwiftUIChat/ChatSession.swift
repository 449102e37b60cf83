import ApusChatClient
import Foundation
import Observation

/// The account of the application: opened at the start, or signed in by the user.
@MainActor @Observable
final class ChatSession {
    private(set) var client: ChatClient?
    private(set) var error: String?
    private var accounts: ChatAccounts?

    /// Opens the account that was used last, even without a connection.
    func restore() async {
        do {
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            guard let folder = folders.first else { return }
            let accounts = try ChatAccounts(folder: folder.appendingPathComponent("Chat").path)
            self.accounts = accounts
            if let account = accounts.current { self.client = try await accounts.open(account) }
        } catch {
            self.error = "\(error)"
        }
    }

    func signIn(server: String, name: String, password: String) async {
        guard let accounts else { return }
        do {
            self.client = try await accounts.signIn(server: server, name: name, password: password)
            self.error = nil
        } catch {
            self.error = error.message
        }
    }

    /// Ends the session and removes everything that is stored here.
    func signOut() async {
        guard let accounts, let client else { return }
        self.client = nil
        do { try await accounts.signOut(client) } catch { self.error = error.message }
    }
}
