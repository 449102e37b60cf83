import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers

/// Caches the names and the keys of accounts. They never change.
final class NameCache: Sendable {
    private struct State {
        var names: [UserKey: UserName] = [:]
        var keys: [UserName: UserKey] = [:]
    }

    private static let capacity = 200_000
    private let state = NIOLockedValueBox(State())

    func insert(_ key: UserKey, _ name: UserName) {
        self.state.withLockedValue { state in
            if state.names.count >= Self.capacity { state = State() }
            state.names[key] = name
            state.keys[name] = key
        }
    }

    /// Returns the keys of names; nil if a name is not cached.
    func known(_ names: [UserName]) -> [UserKey?]? {
        self.state.withLockedValue { state in
            var keys: [UserKey?] = []
            for name in names {
                guard let key = state.keys[name] else { return nil }
                keys.append(key)
            }
            return keys
        }
    }

    /// Returns the keys of names; an element is nil if the account does not exist.
    func keys(of names: [UserName], _ reads: any AccountReads) throws -> [UserKey?] {
        if let known = self.known(names) { return known }
        let keys = try reads.userKeys(named: names)
        for (name, key) in zip(names, keys) { if let key { self.insert(key, name) } }
        return keys
    }

    /// Returns the names of accounts by their keys. Omits accounts that do not exist.
    func names(of keys: Set<UserKey>, _ reads: any AccountReads) throws -> [UserKey: UserName] {
        var (found, missing) = self.state.withLockedValue { state in
            var found: [UserKey: UserName] = [:]
            var missing: [UserKey] = []
            for key in keys { if let name = state.names[key] { found[key] = name } else { missing.append(key) } }
            return (found, missing)
        }
        missing.removeAll { $0 == UserKey(0) }  // the server
        guard !missing.isEmpty else { return found }
        for row in try reads.accounts(missing) {
            found[row.key] = row.name
            self.insert(row.key, row.name)
        }
        return found
    }
}
