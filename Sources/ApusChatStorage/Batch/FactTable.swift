/// The rows of one kind that a batch reads and changes, in an array with an index.
///
/// A key that was loaded without a row is known to be absent. Each changed row is listed once, in
/// the order of the first changes.
///
/// The type is public and inlinable, although no product contains this module. The storages and the
/// decider are in other modules, and the compiler specializes the generic code of another module
/// only if its types are public. Unspecialized code is several times slower.
public struct FactTable<Key: Hashable & Sendable, Row: Sendable>: Sendable {
    @usableFromInline var slots: [Key: Int] = [:]
    @usableFromInline var rows: [Row?] = []
    @usableFromInline var isChanged: [Bool] = []
    @usableFromInline var changedSlots: [Int] = []

    @inlinable
    package init() {}

    /// Adds the stored row of `key`. Ignores a key that is already loaded, because commands may
    /// have changed its row.
    @inlinable
    package mutating func load(_ key: Key, _ row: Row?) {
        let slot = self.rows.count
        guard self.slots.updateIfAbsent(slot, forKey: key) else { return }
        self.rows.append(row)
        self.isChanged.append(false)
    }

    /// Returns whether `key` was requested from the storage.
    @inlinable
    package func isLoaded(_ key: Key) -> Bool { self.slots[key] != nil }

    /// The row of `key`, without a copy; nil if the table has no such row.
    @inlinable
    package subscript(key: Key) -> Row? {
        _read {
            if let slot = self.slots[key] { yield self.rows[slot] } else { yield nil }
        }
    }

    /// Changes the row of `key` in place. Does nothing if there is no row.
    @inlinable
    package mutating func modify(_ key: Key, _ body: (inout Row) -> Void) {
        guard let slot = self.slots[key], self.rows[slot] != nil else { return }
        self.noteChange(slot)
        body(&self.rows[slot]!)  // checked above; an optional chain would copy the row
    }

    /// Changes the rows that satisfy a condition.
    @inlinable
    package mutating func modify(where condition: (Row) -> Bool, _ body: (inout Row) -> Void) {
        for slot in self.rows.indices {
            guard var row = self.rows[slot], condition(row) else { continue }
            self.noteChange(slot)
            body(&row)
            self.rows[slot] = row
        }
    }

    /// Adds or replaces the row of `key`.
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

    /// Removes the row of `key`. `changed` does not contain the removal.
    @inlinable
    package mutating func remove(_ key: Key) {
        if let slot = self.slots[key] { self.rows[slot] = nil }
    }

    /// The changed rows.
    @inlinable
    package var changed: [Row] { self.changedSlots.compactMap { self.rows[$0] } }

    /// Removes all rows. Retains the memory for the next batch.
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
    /// Adds `value` unless `key` already has a value. Returns whether the value was added. Performs
    /// one lookup.
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
