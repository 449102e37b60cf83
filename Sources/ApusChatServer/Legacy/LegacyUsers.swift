import ApusChatProtocol
import ApusChatStorage

/// The accounts of `/allUsers`: the accounts that all users can find.
enum LegacyUsers {
    struct Entry: Sendable {
        var row: AccountRow
        var avatar: BlobRow?
    }

    /// The maximum number of accounts, because the legacy protocol does not page them.
    static let maximum = 2_000

    /// Returns at most ``maximum`` accounts that all users can find.
    ///
    /// - Parameter page: Returns the accounts after a key, in the order of their keys; an empty
    ///   list at the end.
    static func entries(_ page: (_ after: UserKey?) async throws -> [Entry]) async throws -> [Entry] {
        var found: [Entry] = []
        var cursor: UserKey?
        while found.count < Self.maximum {
            let next = try await page(cursor)
            guard let last = next.last?.row.key else { break }
            found += next.filter { $0.row.privacy.find == .all }.prefix(Self.maximum - found.count)
            cursor = last
        }
        return found
    }
}
