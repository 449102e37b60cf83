import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

@Suite("Accounts of a folder")
struct AccountsFileTests {
    private let server = FakeServer()
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() { for name in [Value.alice, Value.bob] { self.server.user(name) } }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: self.folder.appendingPathComponent("accounts.json"))
    }

    private func device() throws -> TestDevice { try TestDevice(self.server, folder: self.folder.path) }

    @Test func anInvalidConfigurationIsRefused() {
        let changes: [@Sendable (inout ChatClientConfiguration) -> Void] = [
            { $0.requestTimeout = .zero }, { $0.transferTimeout = .seconds(-1) }, { $0.changePatience = .seconds(-1) },
            { $0.refusalDelay = .seconds(-1) }, { $0.maximumPulls = 0 }, { $0.uploadPart = 0 }, { $0.pushBuffer = -1 },
        ]
        for change in changes {
            var configuration = ChatClientConfiguration()
            change(&configuration)
            let error = #expect(throws: ChatClientError.self) {
                try ChatAccounts(folder: self.folder.path, configuration: configuration)
            }
            #expect(error?.code == .invalidConfiguration)
        }
        #expect(!FileManager.default.fileExists(atPath: self.folder.path))
    }

    @Test(arguments: ["", "{", "\u{0}", "nothing"])
    func aDamagedFileIsReportedAndKept(text: String) throws {
        try self.write(text)
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let error = #expect(throws: ChatClientError.self) { try self.device() }
        #expect(error?.code == .store && error?.message.contains("accounts.json is damaged") == true)
        #expect(FileManager.default.contents(atPath: self.folder.path + "/accounts.json") == Data(text.utf8))
    }

    @Test func aFileThatCannotBeReadIsReportedAndKept() throws {
        let file = self.folder.appendingPathComponent("accounts.json")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let error = #expect(throws: ChatClientError.self) { try self.device() }
        #expect(error?.code == .store && error?.message.hasPrefix("cannot read \(file.path)") == true)
        var isFolder: ObjCBool = false
        #expect(FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) && isFolder.boolValue)
    }

    @Test(arguments: [
        "[]", "{}", "7", #"{"accounts":1,"sign_outs":{}}"#, #"{"accounts":[1,{},{"server":"http://a"}]}"#,
        #"{"accounts":[{"server":"http://a","user":"a b","file":"x.sqlite"}]}"#,
        // A file outside of the folder would be opened, and removed at the end of the session.
        #"{"accounts":[{"server":"http://a","user":"alice","file":"../../home/x.sqlite"}]}"#,
    ])
    func entriesThatAreWrongAreNil(text: String) throws {
        try self.write(text)
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let device = try self.device()
        #expect(device.accounts.all.isEmpty && device.accounts.current == nil && device.accounts.pendingSignOuts == 0)
    }

    @Test func filesAreForTheirOwnerOnly() async throws {
        let device = try self.device()
        let client = try await device.signIn()
        await client.close()
        for (name, permissions) in [("", 0o700), ("/accounts.json", 0o600), ("/" + (device.accounts.current?.file ?? ""), 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: self.folder.path + name)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == permissions, "\(name)")
        }
        device.remove()
    }

    @Test func aSecondSignInOfAUserUsesTheSameStore() async throws {
        let device = try self.device()
        for _ in 0..<2 {
            let client = try await device.signIn()
            await client.close()
        }
        #expect(device.accounts.all.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path).filter { $0.hasSuffix(".sqlite") }.count == 1)
        let found = try device.accounts.account(server: " http://chat.test/ ", user: "ALICE")
        #expect(found == device.accounts.current && found?.id == "alice@http://chat.test")
        #expect(try device.accounts.account(server: "http://other.test", user: "alice") == nil)
        device.remove()
    }

    @Test func aChangeThatCannotBeStoredIsNotMade() async throws {
        let device = try self.device()
        let first = try await device.signIn(Value.alice)
        await first.close()
        let second = try await device.signIn(Value.bob)
        await second.close()
        let file = self.folder.path + "/accounts.json"
        // A folder with a file in it cannot be replaced by a file.
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file + "/x", withIntermediateDirectories: true)
        let alice = try #require(device.accounts.all.first { $0.user == Value.alice })
        await #expect(throws: ChatClientError.self) { try await device.accounts.open(alice) }
        #expect(device.accounts.current?.user == Value.bob)
        try FileManager.default.removeItem(atPath: file)
        try await device.accounts.open(alice).close()
        #expect(device.accounts.current?.user == Value.alice)
        #expect(try self.device().accounts.current?.user == Value.alice)
        device.remove()
    }

    @Test func aRefusedSignInLeavesNoAccount() async throws {
        let device = try self.device()
        await #expect(throws: ChatClientError.self) { try await device.signIn(Value.name("stranger")) }
        self.server.setReachable(false)
        await #expect(throws: ChatClientError.self) { try await device.signIn() }
        #expect(device.accounts.all.isEmpty && device.accounts.current == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path).filter { $0.hasSuffix(".sqlite") }.isEmpty)
        device.remove()
    }

    @Test func signingOutWipesOneAccountOnly() async throws {
        let device = try self.device()
        let alice = try await device.signIn()
        let bob = try await device.signIn(Value.bob)
        try await device.accounts.signOut(alice)
        #expect(device.accounts.all.map(\.user) == [Value.bob] && device.accounts.current?.user == Value.bob)
        #expect(self.server.logouts == ["alice/r0"] && device.accounts.pendingSignOuts == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path).filter { $0.hasSuffix(".sqlite") }.count == 1)
        // The account was removed, so a second sign-out fails.
        await #expect(throws: ChatClientError.self) { try await device.accounts.signOut(alice) }
        await bob.close()
        device.remove()
    }

    @Test func pendingWorkIsRemovedAtTheSignOut() async throws {
        let pair = self.server.conversation(.pair, [Value.alice, Value.bob])
        let device = try self.device()
        let client = try await device.signIn()
        try await client.isOnline()
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await client.conversation(pair).send("unsent")
        try await device.accounts.signOut(client)
        self.server.setReachable(true)
        let again = try await device.signIn()
        try await again.isOnline()
        #expect(try await again.unsent.isEmpty && self.server.texts(in: pair, as: Value.bob).isEmpty)
        await again.close()
        device.remove()
    }
}
