/// The rows of one kind that a batch reads and changes, in dense slots.
///
/// A key that was loaded without a row is known to be absent. Changed rows are listed once, in the
/// order of their first change.
///
/// Inlinable: the storages and the decider are other modules, and generic code without its types
/// costs several times as much.
package struct FactTable<Key: Hashable & Sendable, Row: Sendable>: Sendable {
    @usableFromInline var slots: [Key: Int] = [:]
    @usableFromInline var rows: [Row?] = []
    @usableFromInline var isChanged: [Bool] = []
    @usableFromInline var changedSlots: [Int] = []

    @inlinable
    package init() {}

    /// Enters what the storage has under `key`. A key that is known keeps its row, which commands
    /// may have changed.
    @inlinable
    package mutating func load(_ key: Key, _ row: Row?) {
        let slot = self.rows.count
        guard self.slots.updateIfAbsent(slot, forKey: key) else { return }
        self.rows.append(row)
        self.isChanged.append(false)
    }

    /// Whether the storage was asked for `key`.
    @inlinable
    package func isLoaded(_ key: Key) -> Bool { self.slots[key] != nil }

    /// The row under `key`, without a copy of it.
    @inlinable
    package subscript(key: Key) -> Row? {
        _read {
            if let slot = self.slots[key] { yield self.rows[slot] } else { yield nil }
        }
    }

    /// Changes the row under `key` in place. Does nothing without a row.
    @inlinable
    package mutating func modify(_ key: Key, _ body: (inout Row) -> Void) {
        guard let slot = self.slots[key], self.rows[slot] != nil else { return }
        self.noteChange(slot)
        body(&self.rows[slot]!)  // checked above; an optional chain would copy the row
    }

    /// Adds or replaces the row under `key`.
    @inlinable
    package mutating func set(_ key: Key, _ row: Row) {
        if let slot = self.slots[key] {
            self.rows[slot] = row
            self.noteChange(slot)
        } else {
            self.slots[key] = self.rows.count
            self.changedSlots.append(self.rows.count)
            self.rows.append(row)
            self.isChanged.append(true)
        }
    }

    /// Removes the row under `key`. The storage is not told by `changed`.
    @inlinable
    package mutating func remove(_ key: Key) {
        if let slot = self.slots[key] { self.rows[slot] = nil }
    }

    /// The changed rows.
    @inlinable
    package var changed: [Row] { self.changedSlots.compactMap { self.rows[$0] } }

    /// Removes all rows and keeps the memory for the next batch.
    @inlinable
    package mutating func removeAll() {
        self.slots.removeAll(keepingCapacity: true)
        self.rows.removeAll(keepingCapacity: true)
        self.isChanged.removeAll(keepingCapacity: true)
        self.changedSlots.removeAll(keepingCapacity: true)
    }

    @inlinable
    mutating func noteChange(_ slot: Int) {
        if !self.isChanged[slot] {
            self.isChanged[slot] = true
            self.changedSlots.append(slot)
        }
    }
}

extension Dictionary {
    /// Enters `value` unless `key` has one. One lookup serves both.
    @inlinable
    mutating func updateIfAbsent(_ value: Value, forKey key: Key) -> Bool where Value == Int {
        let stored = { (slot: inout Int?) -> Bool in
            guard slot == nil else { return false }
            slot = value
            return true
        }
        return stored(&self[key])
    }
}
