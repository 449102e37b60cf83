package import ApusChatProtocol
package import ApusChatStorage

/// The reads of the storage on disk. Each reading thread and the writer use separate objects with
/// separate connections.
package class SQLiteReads: ChatReads {
    var connection: SQLiteConnection
    /// Whether the connection has the search index.
    private(set) var hasSearchIndex = false
    private weak var folder: ChatFolder?
    /// The generation of the attached search index file.
    private(set) var searchGeneration = 0
    /// Damage that a search finds is reported here; nil for the writer.
    private(set) var searchHealth: SearchHealth?
    /// The slots of conversations that were read. A slot never changes.
    private var slots: [ConversationKey: Int64] = [:]

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Opens a connection that reads a database. A `SQLiteStorage` must have opened the database
    /// before. If a `SearchIndex` has created the search index, the connection also reads the
    /// index.
    package init(_ folder: ChatFolder, environment: SQLiteEnvironment = SQLiteEnvironment()) throws(StorageError) {
        self.connection = try SQLiteConnection(path: folder.databasePath, isReader: true, cacheBytes: environment.readerCacheBytes)
        self.folder = folder
        self.searchHealth = folder.search
        self.searchGeneration = folder.search.generation
        self.hasSearchIndex = try SearchFile.attach(folder, to: self.connection)
    }

    /// Attaches the search index again after it was rebuilt. SQLite attaches and detaches files
    /// between transactions only.
    func renewSearchIndex() {
        guard let folder = self.folder, !self.connection.isInTransaction else { return }
        let generation = folder.search.generation
        guard generation != self.searchGeneration else { return }
        self.searchGeneration = generation
        if self.hasSearchIndex { try? self.connection.execute("DETACH search") }
        self.hasSearchIndex = (try? SearchFile.attach(folder, to: self.connection)) ?? false
    }

    /// Returns the slot of a conversation; nil if the conversation does not exist.
    func slot(of key: ConversationKey) throws(StorageError) -> Int64? {
        if let slot = self.slots[key] { return slot }
        guard let slot = try self.connection.statement(ListQuery.slot).with(key.rawValue).first({ $0.int(0) }) else { return nil }
        if self.slots.count >= 50_000 { self.slots.removeAll(keepingCapacity: true) }
        self.slots[key] = slot
        return slot
    }

    package func inSnapshot<Value>(_ body: () throws -> Value) throws -> Value {
        self.renewSearchIndex()
        return try self.connection.snapshot { () throws(StorageError) in Result { try body() } }.get()
    }

    package func position() throws(StorageError) -> SyncPosition {
        let found = try self.connection.statement(TransactionQuery.position).first { ($0.text(0), $0.int(1)) }
        guard let found else { throw StorageError(.corrupt, message: "the database has no data epoch") }
        return SyncPosition(epoch: found.0, position: String(found.1))
    }

    package func heads(of user: UserKey, after cursor: HeadsCursor?, limit: Int) throws(StorageError) -> HeadsPage {
        try self.connection.snapshot { () throws(StorageError) in try self.headsPage(of: user, after: cursor, limit: limit) }
    }

    package func changes(of user: UserKey, after position: SyncPosition, cursor: ConversationKey?, limit: Int) throws(StorageError)
        -> ChangesPage
    {
        try self.connection.snapshot { () throws(StorageError) in
            try self.changesPage(of: user, after: position, cursor: cursor, limit: limit)
        }
    }

    package func head(of user: UserKey, in conversation: ConversationKey) throws(StorageError) -> HeadRow? {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: conversation) else { return nil }
            return try self.headRow(of: user, slot: slot)
        }
    }

    package func events(in conversation: ConversationKey, _ selection: EventSelection, as user: UserKey, limit: Int) throws(StorageError)
        -> [EventView]
    {
        try self.connection.snapshot { () throws(StorageError) in
            guard limit > 0, let slot = try self.slot(of: conversation),
                try self.connection.statement(ListQuery.log).with(slot).first({ $0.bool(2) }) == false
            else { return [] }
            let member = try self.connection.statement(FactQuery.member).with(slot, user.rawValue).first { MemberColumns.row($0) }
            guard let view = MemberView(member) else { return [] }
            return try LogReader(connection: self.connection, conversation: conversation, slot: slot, user: user, view: view)
                .events(selection, limit: limit)
        }
    }

    package func members(
        of conversation: ConversationKey, in states: MemberStates, containing text: String?, after cursor: UserKey?, limit: Int
    ) throws(StorageError) -> MembersPage {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: conversation) else { return MembersPage(members: [], next: nil, version: 0, total: 0) }
            let query = text.map { NameGrams.query(for: $0) ?? "" }
            let version = try self.connection.statement(ListQuery.version).with(slot).number()
            if query == "" { return MembersPage(members: [], next: nil, version: version, total: 0) }
            // Reads one range of the index for each state, and merges these at most four sorted
            // lists.
            var rows: [MemberRow] = []
            var total: Int64 = 0
            for state in MemberState.allCases where states.includes(state) {
                let statement = try self.connection.statement(query == nil ? ListQuery.members : .membersNamed)
                statement.with(slot, state.code, cursor?.rawValue ?? .min, Int64(limit) + 1)
                if let query { statement.bind(5, query) }
                rows += try statement.all { MemberColumns.row($0) }
                total += try self.count(of: slot, state, named: query)
            }
            rows.sort { $0.address.user < $1.address.user }
            let page = Array(rows.prefix(limit))
            return MembersPage(members: page, next: rows.count > limit ? page.last?.address.user : nil, version: version, total: total)
        }
    }

    private func count(of slot: Int64, _ state: MemberState, named query: String?) throws(StorageError) -> Int64 {
        guard let query else {
            if state == .joined { return try self.connection.statement(ListQuery.memberCount).with(slot).number() }
            return try self.connection.statement(ListQuery.countMembers).with(slot, state.code).number()
        }
        let statement = try self.connection.statement(ListQuery.countNamed).with(slot, state.code)
        statement.bind(3, query)
        return try statement.number()
    }

    package func badge(of user: UserKey, at time: Int64) throws(StorageError) -> Int64 {
        try self.connection.statement(ListQuery.badge).with(user.rawValue, time).number()
    }

    package func staff(of conversation: ConversationKey, limit: Int) throws(StorageError) -> [MemberRow] {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: conversation) else { return [] }
            return try self.connection.statement(ListQuery.staff).with(slot, Int64(limit)).all { MemberColumns.row($0) }
        }
    }

    package func readers(of conversation: ConversationKey, atLeast n: Int64, limit: Int) throws(StorageError) -> [UserKey] {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: conversation) else { return [] }
            return try self.connection.statement(ListQuery.readers).with(slot, n, Int64(limit)).all { UserKey($0.int(0)) }
        }
    }

    package func reactions(to event: EventAddress, of key: String?, after cursor: UserKey?, limit: Int) throws(StorageError)
        -> [AnnotationRow]
    {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: event.conversation) else { return [] }
            var rows: [AnnotationRow] = []
            var last = cursor?.rawValue ?? .min
            while rows.count < limit {
                let statement = try self.connection.statement(LogQuery.reactions)
                let found = try statement.with(EventPlace.id(slot, event.seq), last, Int64(limit)).all {
                    AnnotationColumns.row($0, at: AnnotationAddress(event, UserKey($0.int(5))))
                }
                rows += found.filter { !$0.reactions.isEmpty && key.map($0.reactions.contains) ?? true }
                guard found.count == limit, let end = found.last else { break }
                last = end.address.user.rawValue
            }
            return Array(rows.prefix(limit))
        }
    }

    package func conversations(of user: UserKey) throws(StorageError) -> [ConversationKey] {
        try self.connection.statement(ListQuery.joined).with(user.rawValue).all { ConversationKey($0.int(0)) }
    }

    package func userKeys(named names: [UserName]) throws(StorageError) -> [UserKey?] {
        try self.connection.snapshot { () throws(StorageError) in
            let statement = try self.connection.statement(PeopleQuery.named)
            var keys: [UserKey?] = []
            for name in names {
                statement.bind(1, name.rawValue)
                keys.append(try statement.first { UserKey($0.int(0)) })
            }
            return keys
        }
    }

    package func accounts(_ keys: [UserKey]) throws(StorageError) -> [AccountRow] {
        try self.connection.snapshot { () throws(StorageError) in
            let statement = try self.connection.statement(PeopleQuery.account)
            var rows: [AccountRow] = []
            for key in keys {
                if let row = try statement.with(key.rawValue).first(AccountColumns.row) { rows.append(row) }
            }
            return rows
        }
    }

    package func accounts(after cursor: UserKey?, limit: Int) throws(StorageError) -> [AccountRow] {
        let statement = try self.connection.statement(PeopleQuery.all)
        return try statement.with(cursor?.rawValue ?? .min, Int64(limit)).all(AccountColumns.row)
    }

    package func accounts(containing text: String, after cursor: UserKey?, limit: Int) throws(StorageError) -> [AccountRow] {
        guard let query = NameGrams.query(for: text) else { return [] }
        let statement = try self.connection.statement(PeopleQuery.containing)
        statement.bind(1, query)
        statement.bind(2, cursor?.rawValue ?? .min)
        statement.bind(3, Int64(limit))
        return try statement.all(AccountColumns.row)
    }

    package func contacts(of owner: UserKey, after cursor: UserKey?, limit: Int) throws(StorageError) -> [ContactRow] {
        let statement = try self.connection.statement(PeopleQuery.contacts)
        return try statement.with(owner.rawValue, cursor?.rawValue ?? .min, Int64(limit)).all(ContactColumns.row)
    }

    package func listedConversations(containing text: String, after cursor: Int64?, limit: Int) throws(StorageError) -> DirectoryPage {
        try self.connection.snapshot { () throws(StorageError) in
            var page = DirectoryPage()
            guard limit > 0 else { return page }
            let statement = try self.connection.statement(ListQuery.listed)
            let found = try statement.with(cursor ?? .max, Int64(DirectoryPage.window)).all { ($0.int(0), ConversationColumns.row($0)) }
            for (slot, row) in found {
                guard row.isFound(by: text) else { continue }
                page.conversations.append(row)
                if page.conversations.count == limit {
                    page.next = slot
                    return page
                }
            }
            page.next = found.count == DirectoryPage.window ? found.last?.0 : nil
            return page
        }
    }

    package func links(of conversation: ConversationKey, limit: Int) throws(StorageError) -> [LinkRow] {
        try self.connection.statement(ListQuery.links).with(conversation.rawValue, Int64(limit)).all(LinkColumns.row)
    }

    package func listedConversation(_ key: ConversationKey) throws(StorageError) -> ConversationRow? {
        let statement = try self.connection.statement(FactQuery.conversation).with(key.rawValue)
        guard let row = try statement.first({ ConversationColumns.row($0) }), row.settings.listed, !row.counters.isDeleted else {
            return nil
        }
        return row
    }

    package func link(_ code: String) throws(StorageError) -> (link: LinkRow, conversation: ConversationRow)? {
        try self.connection.snapshot { () throws(StorageError) in
            let links = try self.connection.statement(FactQuery.link)
            links.bind(1, code)
            guard let link = try links.first(LinkColumns.row) else { return nil }
            let conversations = try self.connection.statement(FactQuery.conversation).with(link.conversation.rawValue)
            return try conversations.first { ConversationColumns.row($0) }.map { (link, $0) }
        }
    }

    package func pair(_ pair: PairAddress) throws(StorageError) -> ConversationKey? {
        let statement = try self.connection.statement(PeopleQuery.pair)
        return try statement.with(pair.low.rawValue, pair.high.rawValue).first { ConversationKey($0.int(0)) }
    }

    package func expired(at time: Int64, limit: Int) throws(StorageError) -> [EventAddress] {
        try self.connection.statement(LogQuery.expired).with(time, Int64(limit)).all {
            EventAddress(ConversationKey($0.int(1)), EventPlace.seq($0.int(0)))
        }
    }

    package func endedPolls(at time: Int64, limit: Int) throws(StorageError) -> [EventAddress] {
        try self.connection.statement(LogQuery.ended).with(time, Int64(limit)).all {
            EventAddress(ConversationKey($0.int(1)), EventPlace.seq($0.int(0)))
        }
    }

    package func events(of conversation: ConversationKey, before time: Int64, limit: Int) throws(StorageError) -> [EventAddress] {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: conversation),
                let (last, kept) = try self.connection.statement(ListQuery.log).with(slot).first({ ($0.int(0), $0.int(1)) })
            else { return [] }
            let statement = try self.connection.statement(LogQuery.keptEvents)
            return try statement.with(
                EventPlace.id(slot, min(kept, EventPlace.largestSeq) + 1), EventPlace.id(slot, last), time, Int64(limit)
            ).all {
                EventAddress(conversation, EventPlace.seq($0.int(0)))
            }
        }
    }

    package func mayRead(_ need: BlobNeed) throws(StorageError) -> Bool {
        try self.connection.snapshot { () throws(StorageError) in try self.isReadable(need) }
    }
}
