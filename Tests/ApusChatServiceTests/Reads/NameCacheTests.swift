import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatService

/// The names of users and their keys, with and without a read of the storage.
@Suite struct NameCacheTests {
    private let cache = NameCache()

    private func names(_ texts: String...) -> [UserName] { texts.map { UserName(prepared: $0) } }
    private func keys(_ numbers: Int64...) -> Set<UserKey> { Set(numbers.map { UserKey($0) }) }

    @Test func namesAreReadOnceAndKept() throws {
        let world = try ViewWorld()
        #expect(self.cache.known(self.names("alice")) == nil)
        #expect(try self.cache.keys(of: self.names("bob", "alice", "bob"), world.storage) == [UserKey(2), UserKey(1), UserKey(2)])
        #expect(self.cache.known(self.names("alice", "bob")) == [UserKey(1), UserKey(2)])
        // The names are cached, so that an empty storage also gives them.
        #expect(try self.cache.keys(of: self.names("alice"), MemoryStorage()) == [UserKey(1)])
        #expect(try self.cache.names(of: self.keys(2), MemoryStorage()) == [UserKey(2): UserName(prepared: "bob")])
    }

    @Test func oneUnknownNameMakesAllBeRead() throws {
        let world = try ViewWorld()
        _ = try self.cache.keys(of: self.names("alice"), world.storage)
        #expect(self.cache.known(self.names("alice", "bob")) == nil)
        #expect(try self.cache.keys(of: self.names("alice", "bob"), world.storage) == [UserKey(1), UserKey(2)])
        #expect(self.cache.known([]) == [])
    }

    /// A name without an account is not cached, because it may be registered later.
    @Test func aMissingNameIsReadAgain() throws {
        #expect(try self.cache.keys(of: self.names("alice", "nobody1"), ViewWorld(["alice"]).storage) == [UserKey(1), nil])
        #expect(self.cache.known(self.names("nobody1")) == nil)
        #expect(try self.cache.keys(of: self.names("nobody1"), ViewWorld(["alice", "nobody1"]).storage) == [UserKey(2)])
    }

    @Test func keysWithoutAnAccountHaveNoName() throws {
        let world = try ViewWorld()
        let found = try self.cache.names(of: self.keys(1, 3, 77), world.storage)
        #expect(found == [UserKey(1): UserName(prepared: "alice"), UserKey(3): UserName(prepared: "carol")])
        #expect(try self.cache.names(of: [], world.storage).isEmpty)
    }

    /// The key 0 is the server, for which no account is read.
    @Test func theServerHasNoName() throws {
        let world = try ViewWorld()
        try world.change {
            $0.accounts = [
                AccountRow(key: UserKey(0), name: UserName(prepared: "root1"), nickname: "", selfConversation: ConversationKey(9))
            ]
        }
        #expect(try self.cache.names(of: self.keys(0, 1), world.storage) == [UserKey(1): UserName(prepared: "alice")])
    }

    @Test func aProfileThatWasReadIsKnown() throws {
        let world = try ViewWorld()
        _ = try world.context(of: 1).users([UserKey(4)])
        #expect(world.names.known(self.names("dave")) == [UserKey(4)])
    }
}
