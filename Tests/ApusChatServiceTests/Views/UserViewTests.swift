import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatService

/// The fields of a user visible to another user.
@Suite struct UserViewTests {
    private static let blob = String(repeating: "ab", count: 32)

    /// Returns rows in which the profile of Bob has all fields.
    private func world(_ privacy: AccountPrivacy = AccountPrivacy(), isOnline: Bool = false) throws -> ViewWorld {
        let world = try ViewWorld()
        try world.account(2) { row in
            row.privacy = privacy
            row.statusText = "rowing"
            row.avatar = BlobID(Self.blob)
        }
        try world.device(of: 2, seenAt: 77)
        try world.device(of: 2, seenAt: 55)
        world.presence.set(UserKey(2), isOnline: isOnline, at: 0)
        return world
    }

    private static let avatar = #""avatar":"\#(blob)""#

    /// Each case is the audiences of the picture and of the presence, the relation of Bob to the
    /// viewer, whether Bob is online, and the fields beside name, nickname and status.
    @Test(
        arguments: [
            (.all, .all, .none, false, [avatar, #""online":false"#, #""last_seen":77"#]),
            (.all, .all, .none, true, [avatar, #""online":true"#]),
            (.all, .contacts, .none, false, [avatar]), (.all, .contacts, .asked, false, [avatar]),
            (.all, .contacts, .requested, true, [avatar]),
            (.all, .contacts, .friend, true, [avatar, #""online":true"#]),
            (.contacts, .none, .friend, true, [avatar]), (.contacts, .none, .asked, true, []),
            (.contacts, .all, .none, true, [#""online":true"#]),
            (.none, .none, .friend, false, []), (.unknown, .unknown, .friend, true, []),
        ] as [(Audience, Audience, ContactRelation, Bool, [String])])
    func aProfileFollowsItsPrivacySettings(
        picture: Audience, lastSeen: Audience, relation: ContactRelation, isOnline: Bool, shown: [String]
    ) throws {
        var privacy = AccountPrivacy()
        (privacy.avatar, privacy.lastSeen) = (picture, lastSeen)
        let world = try self.world(privacy, isOnline: isOnline)
        if relation != .none { try world.contact(2, 1, relation) }
        let fields = ([#""name":"bob""#, #""nick":"Bob""#, #""status":"rowing""#] + shown).joined(separator: ",")
        #expect(try world.context(of: 1).users([UserKey(2)]).map(\.json) == [try wire("{\(fields)}")])
    }

    /// A session is renewed every few minutes. The end of the last connection is more exact.
    @Test(arguments: [(70, 77), (90, 90)] as [(Int64, Int64)])
    func aUserWasLastSeenAtTheEndOfTheLastConnection(end: Int64, lastSeen: Int64) throws {
        var privacy = AccountPrivacy()
        privacy.lastSeen = .all
        let world = try self.world(privacy, isOnline: true)
        world.presence.set(UserKey(2), isOnline: false, at: end)
        #expect(try world.context(of: 1).users([UserKey(2)]).first?.lastSeen == lastSeen)
    }

    @Test func theRelationOfTheOtherUserDecides() throws {
        var privacy = AccountPrivacy()
        privacy.avatar = .contacts
        let world = try self.world(privacy, isOnline: true)
        // Alice lists Bob as a friend. Bob does not list Alice.
        try world.contact(1, 2, .friend)
        let user = try #require(try world.context(of: 1).users([UserKey(2)]).first)
        #expect(user.avatar == nil && user.online == nil && user.lastSeen == nil)
        // A contact of Bob that is not the viewer has no effect.
        try world.contact(2, 3, .friend)
        #expect(try world.context(of: 1).users([UserKey(2)]).first == user)
    }

    @Test func aBlockedViewerSeesTheNamesOnly() throws {
        let world = try self.world(isOnline: true)
        try world.contact(2, 1, .friend, isBlocked: true)
        #expect(try world.context(of: 1).users([UserKey(2)]).map(\.json) == [try wire(#"{"name":"bob","nick":"Bob"}"#)])
        // The block has no effect on other viewers.
        try world.contact(2, 3, .friend)
        #expect(try world.context(of: 3).users([UserKey(2)]).first?.status == "rowing")
    }

    @Test func aUserSeesTheOwnProfileRegardlessOfItsSettings() throws {
        var privacy = AccountPrivacy()
        (privacy.avatar, privacy.lastSeen) = (.none, .none)
        let world = try self.world(privacy)
        let fields = #"{"name":"bob","nick":"Bob","status":"rowing",\#(Self.avatar),"online":false,"last_seen":77}"#
        #expect(try world.context(of: 2).users([UserKey(2)]).map(\.json) == [try wire(fields)])
    }

    @Test func aDeletedAccountHasItsNameOnly() throws {
        let world = try self.world(isOnline: true)
        try world.account(2) { $0.state = .deleted }
        try world.contact(2, 1, .friend)
        #expect(try world.context(of: 1).users([UserKey(2)]).map(\.json) == [try wire(#"{"name":"bob","deleted":true}"#)])
    }

    @Test func emptyTextsAndMissingValuesAreAbsent() throws {
        let world = try ViewWorld()
        try world.account(2) { $0.nickname = "" }
        // A user without devices has no time of a last connection.
        #expect(try world.context(of: 2).users([UserKey(2)]).map(\.json) == [try wire(#"{"name":"bob","online":false}"#)])
    }

    @Test func usersKeepTheirOrderAndUnknownOnesAreOmitted() throws {
        let world = try ViewWorld()
        let keys = [4, 99, 1, 4, 2].map { UserKey($0) }
        #expect(try world.context(of: 1).users(keys).map(\.name.rawValue) == ["dave", "alice", "dave", "bob"])
        #expect(try world.context(of: 1).users([]).isEmpty)
    }
}
