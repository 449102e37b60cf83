import Testing

@testable import apus

@Suite struct ChatStorePathTests {
    @Test func theStoreOfAUserStaysInItsFolder() {
        #expect(ChatStorePath.folderName(server: "https://chat.example.com:444", user: "../Bob") == "chat.example.com-444-.._bob")
        #expect(ChatStorePath.folderName(server: "http://127.0.0.1:3000", user: "王伟") == "127.0.0.1-3000-__")
    }
}
