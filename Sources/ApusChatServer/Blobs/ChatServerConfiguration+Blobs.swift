import ApusChatHTTP
import ApusConnectivity
import ApusS3
import Logging
import NIOPosix

extension ChatServerConfiguration {
    /// The location of the content of complete uploads.
    public struct Blobs: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case folder
            case s3(url: String, endpoint: String?, region: String, Credentials, tls: TLSSettings)
        }
        private let value: Value

        /// The folder `blobs` of the data folder.
        public static let folder = Self(value: .folder)

        /// A bucket of an S3-compatible store. Unfinished uploads and previews remain in the data
        /// folder.
        ///
        /// - Parameters:
        ///   - url: `s3://BUCKET` or `s3://BUCKET/PREFIX`. Two servers must not use the same bucket
        ///     and prefix.
        ///   - endpoint: The URL of the store. Default: the endpoint of AWS in the region.
        ///   - region: The region, which is part of the signatures of requests.
        ///   - credentials: The access key with which requests are signed.
        ///   - authoritiesPEM: Certificate authorities to trust in addition to those of the system,
        ///     in PEM format. Default: none.
        public static func s3(
            _ url: String, endpoint: String? = nil, region: String, credentials: Credentials, authoritiesPEM: String? = nil
        ) -> Self {
            let tls = authoritiesPEM.map { TLSSettings.trusting(authoritiesPEM: $0) } ?? .system
            return Self(value: .s3(url: url, endpoint: endpoint, region: region, credentials, tls: tls))
        }

        /// An access key of an S3-compatible store.
        public struct Credentials: Hashable, Sendable {
            let key: S3Credentials

            /// Creates credentials.
            ///
            /// - Parameters:
            ///   - id: The access key id.
            ///   - secret: The secret access key.
            ///   - token: The session token of temporary credentials. Default: none.
            public init(id: String, secret: String, token: String? = nil) {
                self.key = S3Credentials(id: id, secret: secret, token: token)
            }

            /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Returns
            /// nil if one of the first two is missing.
            public init?(environment: [String: String]) {
                guard let key = S3Credentials(environment: environment) else { return nil }
                self.key = key
            }

            /// Reads a file in the format of `~/.aws/credentials`. Uses the section `[default]`.
            /// Returns nil if the section contains no key.
            ///
            /// - Parameter text: The content of the file.
            public init?(file text: String) {
                guard let key = S3Credentials(file: text) else { return nil }
                self.key = key
            }
        }

        /// The first error in the values; nil if all values are valid.
        var problem: String? {
            guard case .s3(let url, let endpoint, let region, _, let tls) = self.value else { return nil }
            do throws(S3Error) {
                _ = try S3Location(url: url, endpoint: endpoint, region: region)
            } catch {
                return "`blobs`: \(error.message)"
            }
            do throws(ConnectivityError) {
                _ = try tls.makeConfiguration()
                return nil
            } catch {
                return "`blobs`: \(error.message)"
            }
        }

        /// Creates the store.
        ///
        /// - Parameters:
        ///   - folder: The data folder.
        ///   - now: The time, in milliseconds since 1970.
        func store(folder: String, threads: NIOThreadPool, now: @escaping @Sendable () -> Int64, logger: Logger) throws -> any BlobStore {
            switch self.value {
            case .folder: return try FolderBlobStore(folder: folder, threads: threads)
            case .s3(let url, let endpoint, let region, let credentials, let tls):
                let client = S3Client(
                    location: try S3Location(url: url, endpoint: endpoint, region: region), credentials: credentials.key,
                    transport: HTTPS3Transport(tls: tls), now: now)
                return try S3BlobStore(folder: folder, client: client, threads: threads, logger: logger)
            }
        }
    }
}
