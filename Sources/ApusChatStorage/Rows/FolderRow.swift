package import ApusChatProtocol

/// A folder of an account.
package struct FolderRow: Sendable, Equatable {
    package var folder: Folder
    /// The number of the bit in `MemberRow.folders` that represents the folder.
    package var slot: Int

    package init(_ folder: Folder, slot: Int) {
        self.folder = folder
        self.slot = slot
    }

    package var mask: UInt64 { (0..<64).contains(self.slot) ? 1 << UInt64(self.slot) : 0 }

    /// Assigns slots to a new list of folders.
    ///
    /// A folder retains the slot of the known folder with the same name. If the lists have the same
    /// length, a new name at the position of a removed folder renames that folder. Every other
    /// folder receives a slot that no known folder uses.
    ///
    /// - Returns: The folders, and the bits of folders that no longer exist.
    package static func arranged(_ folders: [Folder], after known: [Self]) -> (rows: [Self], removed: UInt64) {
        var slots: [Int?] = Array(repeating: nil, count: folders.count)
        var kept: Set<Int> = []
        for (index, folder) in folders.enumerated() {
            guard let row = known.first(where: { $0.folder.name == folder.name && !kept.contains($0.slot) }) else { continue }
            slots[index] = row.slot
            kept.insert(row.slot)
        }
        if folders.count == known.count {
            for (index, row) in known.enumerated() where slots[index] == nil && !kept.contains(row.slot) {
                slots[index] = row.slot
                kept.insert(row.slot)
            }
        }
        var free = Set(0..<64).subtracting(known.map(\.slot)).sorted()[...]
        let rows = zip(folders, slots).map { folder, slot in Self(folder, slot: slot ?? free.popFirst() ?? 64) }
        return (rows, known.reduce(0) { kept.contains($1.slot) ? $0 : $0 | $1.mask })
    }
}

/// The removal of folders of a user from all conversations.
package struct FolderRemoval: Sendable, Equatable {
    package var user: UserKey
    /// The bits of the removed folders (`FolderRow.slot`).
    package var folders: UInt64

    package init(user: UserKey, folders: UInt64) {
        self.user = user
        self.folders = folders
    }
}
