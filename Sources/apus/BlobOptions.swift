import ApusChatServer
import ArgumentParser
import Foundation

/// The options of `apus serve` for the storage of files.
struct BlobOptions: ParsableArguments {
    @Option(
        name: .customLong("blob-store"),
        help: ArgumentHelp(
            "Store files in a bucket of an S3-compatible store instead of the data folder: s3://BUCKET or s3://BUCKET/PREFIX.",
            valueName: "url"))
    var store: String?

    @Option(
        name: .customLong("s3-endpoint"),
        help: ArgumentHelp("The URL of the store. Default: the URL of AWS in the region.", valueName: "url"))
    var endpoint: String?

    @Option(name: .customLong("s3-region"), help: ArgumentHelp("The region of the bucket. Default: us-east-1.", valueName: "region"))
    var region: String?

    @Option(
        name: .customLong("s3-credentials-file"),
        help: ArgumentHelp(
            """
            A file with the key of the store, in the format of ~/.aws/credentials. Default: the environment variables AWS_ACCESS_KEY_ID and \
            AWS_SECRET_ACCESS_KEY.
            """, valueName: "path"))
    var credentialsFile: String?

    @Option(
        name: .customLong("s3-ca"),
        help: ArgumentHelp("A PEM file with certificate authorities to trust for the store in addition to the system's.", valueName: "file")
    )
    var ca: String?

    func validate() throws {
        guard self.store != nil else {
            for (name, value) in [
                ("--s3-endpoint", self.endpoint), ("--s3-region", self.region), ("--s3-credentials-file", self.credentialsFile),
                ("--s3-ca", self.ca),
            ] where value != nil { throw ValidationError("\(name) requires --blob-store") }
            return
        }
        if let file = self.ca, self.authorities == nil { throw ValidationError("cannot read the file \(file) (--s3-ca)") }
        guard self.credentials == nil else { return }
        guard let path = self.credentialsFile else {
            throw ValidationError(
                "--blob-store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or specify a file with --s3-credentials-file"
            )
        }
        throw ValidationError(
            "--s3-credentials-file: \(path) cannot be read, or has no aws_access_key_id and aws_secret_access_key in [default]")
    }

    func configure(_ configuration: inout ChatServerConfiguration) {
        guard let store = self.store, let credentials = self.credentials else { return }
        configuration.blobs = .s3(
            store, endpoint: self.endpoint, region: self.region ?? "us-east-1", credentials: credentials, authoritiesPEM: self.authorities)
    }

    private var authorities: String? { self.ca.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } }

    private var credentials: ChatServerConfiguration.Blobs.Credentials? {
        guard let path = self.credentialsFile else { return .init(environment: ProcessInfo.processInfo.environment) }
        return (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { .init(file: $0) }
    }
}
