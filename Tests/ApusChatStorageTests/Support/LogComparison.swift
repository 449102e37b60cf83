import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// Expects that two storages with the changes of a `LogScript` answer the reads in the same way.
struct LogComparison {
    let memory: MemoryStorage
    let disk: SQLiteStorage
    let script: LogScript

    /// Compares the reads of one user in pages of a size.
    func compare(_ user: UserKey, size: Int, after positions: [(memory: SyncPosition, disk: SyncPosition)]) throws {
        let heads = try Pages.all { (cursor: HeadsCursor?) in
            let page = try self.disk.heads(of: user, after: cursor, limit: size)
            return (page.heads, page.next)
        }
        #expect(heads == self.memory.heads(of: user, after: nil, limit: 99).heads, "heads of \(user) in pages of \(size)")
        #expect(try self.disk.conversations(of: user) == self.memory.conversations(of: user))
        #expect(try self.disk.memberships(of: user, after: nil, limit: 99) == self.memory.memberships(of: user, after: nil, limit: 99))
        for time in [0, 4, 9] as [Int64] { #expect(try self.disk.badge(of: user, at: time) == self.memory.badge(of: user, at: time)) }
        for (ours, theirs) in positions {
            let changed = try Pages.all { (cursor: ConversationKey?) -> (rows: [HeadRow], next: ConversationKey?) in
                guard case .page(let heads, let next) = try self.disk.changes(of: user, after: theirs, cursor: cursor, limit: size) else {
                    return ([], nil)
                }
                return (heads, next)
            }
            #expect(ChangesPage.page(changed, next: nil) == self.memory.changes(of: user, after: ours, cursor: nil, limit: 99))
        }
        for (key, _) in self.script.conversations { try self.compare(key, user, size: size) }
    }

    /// Compares the log of a conversation as a user sees it.
    private func compare(_ key: ConversationKey, _ user: UserKey, size: Int) throws {
        #expect(try self.disk.head(of: user, in: key) == self.memory.head(of: user, in: key))
        let middle = self.script.last(key) / 2
        let selections: [EventSelection] = [
            .from(1), .from(middle), .through(.max), .through(middle), .thread(1, from: 0), .thread(1, from: middle),
            .threadEnd(1, through: .max), .threadEnd(1, through: middle), .edits(of: 1), .edits(of: max(1, middle)), .pinned,
        ]
        for selection in selections {
            for limit in [size, 999] {
                let expected = self.memory.events(in: key, selection, as: user, limit: limit)
                let found = try self.disk.events(in: key, selection, as: user, limit: limit)
                #expect(found == expected, "\(limit) \(selection) of \(key) as \(user)")
            }
        }
        for changes in [false, true] {
            let found = try Pages.all { (cursor: Int64?) in
                let page = try self.disk.events(of: key, by: user, after: cursor ?? 0, changes: changes, limit: size)
                return (page.events, page.next)
            }
            #expect(found == self.memory.events(of: key, by: user, after: 0, changes: changes, limit: 999).events)
        }
    }

    /// Compares the reads that belong to no user.
    func compareConversations(size: Int) throws {
        let all: MemberStates = [.joined, .invited, .requested, .banned]
        for (key, _) in self.script.conversations {
            for states in [all, .joined, .banned, [.invited, .requested], []] {
                let members = try Pages.all { (cursor: UserKey?) in
                    let page = try self.disk.members(of: key, in: states, after: cursor, limit: size)
                    return (page.members, page.next)
                }
                let expected = self.memory.members(of: key, in: states, containing: nil, after: nil, limit: 99)
                #expect(members == expected.members, "\(states)")
                #expect(try self.disk.members(of: key, in: states, after: nil, limit: 99) == expected)
            }
            #expect(try self.disk.staff(of: key, limit: size) == self.memory.staff(of: key, limit: size))
            for n in [0, 1, 5] as [Int64] {
                #expect(try self.disk.readers(of: key, atLeast: n, limit: size) == self.memory.readers(of: key, atLeast: n, limit: size))
            }
            for time in [self.script.time / 2, .max] {
                let expected = self.memory.events(of: key, before: time, limit: size)
                #expect(try self.disk.events(of: key, before: time, limit: size) == expected)
            }
            for seq in Set([1, self.script.last(key)]) {
                for reaction in [nil, "+", "x"] {
                    let event = EventAddress(key, seq)
                    let expected = self.memory.reactions(to: event, of: reaction, after: nil, limit: size)
                    #expect(try self.disk.reactions(to: event, of: reaction, after: nil, limit: size) == expected)
                }
            }
        }
        for time in [self.script.time, .max] {
            // Events of the same time have no order.
            #expect(try Set(self.disk.expired(at: time, limit: 9_999)) == Set(self.memory.expired(at: time, limit: 9_999)))
            #expect(try Set(self.disk.endedPolls(at: time, limit: 9_999)) == Set(self.memory.endedPolls(at: time, limit: 9_999)))
        }
        #expect(try Set(self.disk.calls(limit: 99)) == Set(self.memory.calls(limit: 99)))
        #expect(try Set(self.disk.deletedConversations(limit: 99)) == Set(self.memory.deletedConversations(limit: 99)))
        #expect(try self.disk.pair(LogScript.pair) == self.memory.pair(LogScript.pair))
        let reports = try self.disk.reports(isOpen: false, before: .max, limit: 9_999)
        #expect(reports.map(\.report) == self.memory.reports.reversed())
        #expect(reports.map(\.number) == reports.indices.map { Int64(reports.count - $0) })
    }

    /// Compares the facts of a batch.
    func compareFacts(_ needs: Needs) throws {
        let (ours, theirs) = (try self.memory.begin(needs), try self.disk.begin(needs))
        self.memory.abandon()
        self.disk.abandon()
        for key in needs.conversations { #expect(ours.conversations[key] == theirs.conversations[key]) }
        for address in needs.members { #expect(ours.members[address] == theirs.members[address]) }
        for pair in needs.pairs { #expect(ours.pairs[pair] == theirs.pairs[pair] && theirs.pairs.isLoaded(pair)) }
        for address in needs.events { #expect(ours.events[address] == theirs.events[address]) }
        for address in needs.annotations { #expect(ours.annotations[address] == theirs.annotations[address]) }
        for address in needs.requests { #expect(ours.requests[address] == theirs.requests[address]) }
        for address in needs.sends { #expect(ours.sends[address] == theirs.sends[address]) }
        for need in needs.skips { #expect(ours.skips[need] == theirs.skips[need], "\(need)") }
        for address in needs.unseen { #expect(ours.unseen[address] == theirs.unseen[address], "\(address)") }
        for key in needs.successors { #expect(ours.successors[key] == theirs.successors[key]) }
        #expect(ours.deletedAccounts.isSuperset(of: theirs.deletedAccounts))
    }

    /// Compares the search of a reader of the index.
    func compareSearch(_ reader: SQLiteReads, _ user: UserKey, size: Int) throws {
        var needs = (LogScript.words + ["\"apple plum\"", "birne 苹", "app", "none"]).map { SearchNeed(words: SearchWords($0)) }
        var listing = SearchNeed(words: SearchWords(""))
        (listing.conversation, listing.kinds) = (self.script.conversations[2].key, [.image, .poll])
        needs.append(listing)
        needs[0].sender = self.script.users[0]
        needs[1].conversation = LogScript.pair.low == user ? self.script.conversations[1].key : self.script.conversations[3].key
        (needs[2].from, needs[2].until) = (self.script.time / 3, self.script.time / 2)
        needs[3].kinds = [.text, EventKind(rawValue: "x.game")]
        for need in needs {
            let expected = self.memory.search(need, as: user, limit: 9_999).hits.map { [$0.conversation.rawValue, $0.view.seq] }
            let hits = try Pages.all { (cursor: Int64?) in
                var need = need
                need.cursor = cursor
                let page = try reader.search(need, as: user, limit: size)
                #expect(page.indexedAt == nil)
                return (page.hits, page.next)
            }
            #expect(hits.map { [$0.conversation.rawValue, $0.view.seq] } == expected, "\(need) as \(user) in pages of \(size)")
            for hit in hits { #expect(try reader.events(in: hit.conversation, .from(hit.view.seq), as: user, limit: 1) == [hit.view]) }
        }
    }
}
