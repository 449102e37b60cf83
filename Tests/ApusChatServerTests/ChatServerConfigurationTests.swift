import ApusChatCore
import ApusChatProtocol
import Testing

@testable import ApusChatServer

@Suite struct ChatServerConfigurationTests {
    private func message(_ configure: (inout ChatServerConfiguration) -> Void) -> String? {
        var configuration = ChatServerConfiguration()
        configure(&configuration)
        do throws(ChatServerError) {
            try configuration.validate()
            return nil
        } catch {
            return error.code == .invalidConfiguration ? error.message : "another code"
        }
    }

    @Test func theDefaultsAreValid() { #expect(self.message { _ in } == nil) }

    @Test func theTimesForEditsAndRecallsAreEnforcedAndAnnounced() {
        var configuration = ChatServerConfiguration()
        #expect(configuration.rules == ChatRules() && configuration.limits.editSeconds == 172_800)
        (configuration.editTime, configuration.recallTime) = (.zero, .seconds(3_600))
        #expect(configuration.rules.editMilliseconds == 0 && configuration.rules.recallMilliseconds == 3_600_000)
        #expect(configuration.limits.editSeconds == 0 && configuration.limits.recallSeconds == 3_600)
    }

    @Test func eachErrorNamesTheValue() {
        #expect(self.message { $0.dataFolder = "" }?.contains("`dataFolder`") == true)
        #expect(self.message { $0.host = "" }?.contains("`host`") == true)
        #expect(self.message { $0.name = "" }?.contains("`name`") == true)
        #expect(self.message { $0.port = 65_536 } == "`port` must be from 0 to 65535, not 65536")
        #expect(self.message { $0.tls = .selfSigned(port: -1) }?.contains("`tls.port`") == true)
        #expect(self.message { $0.metricsPort = -1 }?.contains("`metricsPort`") == true)
        #expect(self.message { $0.uploadBytes = 0 }?.contains("`uploadBytes`") == true)
        #expect(self.message { $0.uploadQuota = 1 }?.contains("`uploadQuota`") == true)
        #expect(self.message { $0.sessionLifetime = .seconds(1) }?.contains("`sessionLifetime`") == true)
        #expect(self.message { $0.editTime = .seconds(-1) }?.contains("`editTime`") == true)
        #expect(self.message { $0.recallTime = .seconds(87_600 * 3_600 + 1) }?.contains("`recallTime`") == true)
        #expect(self.message { $0.maximumClients = 0 }?.contains("`maximumClients`") == true)
        #expect(self.message { $0.proxies.networks = ["proxy.example"] }?.contains("`proxy.example`") == true)
    }

    @Test(
        arguments: [
            ("s3://bucket/prefix", "http://127.0.0.1:9000", "us-east-1", true), ("s3://bucket", nil, "eu-west-1", true),
            ("file://bucket", nil, "us-east-1", false), ("s3://bucket", "127.0.0.1:9000", "us-east-1", false),
            ("s3://bucket", nil, "", false),
        ] as [(String, String?, String, Bool)])
    func theStoreOfFilesIsChecked(_ url: String, _ endpoint: String?, _ region: String, _ isValid: Bool) {
        let message = self.message {
            $0.blobs = .s3(url, endpoint: endpoint, region: region, credentials: .init(id: "id", secret: "hidden"))
        }
        #expect(isValid ? message == nil : message?.hasPrefix("`blobs`: the ") == true)
        #expect(message?.contains("hidden") != true)
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func theAuthoritiesOfTheStoreAreChecked(_ pem: String) {
        let message = self.message {
            $0.blobs = .s3("s3://bucket", region: "r", credentials: .init(id: "id", secret: "hidden"), authoritiesPEM: pem)
        }
        #expect(message?.hasPrefix("`blobs`: the additional authorities ") == true)
    }

    @Test func aDescriptionOfTheStoreHasNoSecret() {
        let blobs = ChatServerConfiguration.Blobs.s3("s3://bucket", region: "r", credentials: .init(id: "id", secret: "hidden"))
        #expect(!"\(blobs)".contains("hidden") && !String(reflecting: blobs).contains("hidden"))
    }

    @Test func aServerHasAListener() {
        let message = self.message {
            $0.tls = .off
            $0.listensWithoutTLS = false
        }
        #expect(message?.contains("`listensWithoutTLS`") == true)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.8.0.1", true), ("::1", true), ("localhost", true), ("0.0.0.0", false), ("::", false),
        ("192.0.2.1", false), ("chat.example", false),
    ])
    func limitsCanBeOffOnLoopbackAddressesOnly(host: String, isValid: Bool) {
        let message = self.message {
            $0.hasLimits = false
            $0.host = host
        }
        #expect((message == nil) == isValid)
    }

    @Test func theOldWireNeedsTheOpenDirectory() {
        #expect(self.message { $0.legacyPort = 0 }?.contains("`directory`") == true)
        #expect(
            self.message {
                $0.legacyPort = 0
                $0.directory = .open
            } == nil)
        for tls in [ChatServerConfiguration.TLS.off, .selfSigned(port: 0)] {
            for port in [nil, 0] {
                let message = self.message {
                    ($0.legacyPort, $0.directory, $0.legacyUsesTLS, $0.tls) = (port, .open, true, tls)
                }
                #expect((message == nil) == (port == 0 && tls != .off), "\(tls)")
            }
        }
        #expect(self.message { $0.legacyPort = 65_536 }?.contains("`legacyPort`") == true)
    }

    @Test func thePROXYProtocolNeedsTheProxies() {
        #expect(self.message { $0.proxies.source = .proxyProtocol }?.contains("`proxies.networks`") == true)
        #expect(self.message { $0.proxies = .init(networks: ["::1"], source: .proxyProtocol) } == nil)
    }
}
