import ApusChatServer
import ArgumentParser

/// The options of `apus serve` for uploads.
struct UploadOptions: ParsableArguments {
    @Option(help: "The maximum size of one upload, in MiB.")
    var uploadSize = 100

    @Option(help: "The maximum size of all uploads of one user, in MiB.")
    var uploadQuota = 1_024

    /// The upper bound of both options in MiB: 1 TiB, the maximum size of a file in a message.
    private static let maximum = 1 << 20

    func validate() throws {
        for (name, value) in [("--upload-size", self.uploadSize), ("--upload-quota", self.uploadQuota)]
        where !(1...Self.maximum).contains(value) {
            throw ValidationError("\(name) must be from 1 to \(Self.maximum) MiB, not \(value)")
        }
    }

    func configure(_ configuration: inout ChatServerConfiguration) {
        configuration.uploadBytes = Int64(self.uploadSize) << 20
        configuration.uploadQuota = Int64(self.uploadQuota) << 20
    }
}
