import ApusChatServer
import ArgumentParser

/// The options of `apus serve` for messages.
struct MessageOptions: ParsableArguments {
    @Option(help: "The hours for which the sender of a message can edit it. 0 prevents edits.")
    var editHours = 48

    @Option(help: "The hours for which the sender of a message can recall it. Owners and admins of a group can recall it at any time.")
    var recallHours = 48

    private static let maximum = 87_600

    func validate() throws {
        for (name, value) in [("--edit-hours", self.editHours), ("--recall-hours", self.recallHours)]
        where !(0...Self.maximum).contains(value) {
            throw ValidationError("\(name) must be from 0 to \(Self.maximum) hours, not \(value)")
        }
    }

    func configure(_ configuration: inout ChatServerConfiguration) {
        configuration.editTime = .seconds(self.editHours * 3_600)
        configuration.recallTime = .seconds(self.recallHours * 3_600)
    }
}
