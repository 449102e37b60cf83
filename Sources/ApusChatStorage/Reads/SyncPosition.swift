/// Identifies a state of the storage, from which later changes can be determined. The value is
/// opaque outside of the storage.
package struct SyncPosition: Sendable, Hashable, CustomStringConvertible {
    /// The data epoch, which is renewed when the data is restored, imported or copied.
    package let epoch: String
    /// The position within the epoch, such as the number of a commit.
    package let position: String

    package init(epoch: String, position: String) {
        self.epoch = epoch
        self.position = position
    }

    /// Parses the text that `description` returns; nil if it is not valid.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        self.init(epoch: String(parts[0]), position: String(parts[1]))
    }

    package var description: String { "\(self.epoch).\(self.position)" }
}
