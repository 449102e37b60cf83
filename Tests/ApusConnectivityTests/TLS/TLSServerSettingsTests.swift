import ApusConnectivity
import ApusTesting
import Testing

@Suite struct TLSServerSettingsTests {
    private func code(_ body: () throws(ConnectivityError) -> Void) -> ConnectivityError.Code? {
        do throws(ConnectivityError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func anIdentityHasTheFingerprintOfItsFirstCertificate() throws {
        let (server, authority) = (try TestCertificate("A server"), try TestCertificate("An authority"))
        let identity = TLSIdentity(certificateChainPEM: try server.pem + "\n" + authority.pem, privateKeyPEM: server.keyPEM)
        #expect(identity.fingerprint == CertificateFingerprint(bytes: try server.digest))
        #expect(self.code { () throws(ConnectivityError) in _ = try TLSServerSettings(identity: identity).makeContext() } == nil)
        #expect(TLSIdentity(certificateChainPEM: "", privateKeyPEM: "").fingerprint == nil)
    }

    @Test func malformedTextsAndMissingFilesAreReported() throws {
        let server = try TestCertificate("A server")
        let pem = try server.pem
        let key = TLSIdentity(certificateChainPEM: pem, privateKeyPEM: "nonsense")
        let chain = TLSIdentity(certificateChainPEM: "nonsense", privateKeyPEM: server.keyPEM)
        for identity in [key, chain] {
            #expect(
                self.code { () throws(ConnectivityError) in _ = try TLSServerSettings(identity: identity).makeContext() }
                    == .invalidConfiguration)
        }
        let settings = TLSServerSettings(
            identity: TLSIdentity(certificateChainPEM: pem, privateKeyPEM: server.keyPEM), clientAuthoritiesPEM: "")
        #expect(self.code { () throws(ConnectivityError) in _ = try settings.makeContext() } == .invalidConfiguration)
        let missing = "/nonexistent/certificate.pem"
        #expect(
            self.code { () throws(ConnectivityError) in _ = try TLSIdentity(certificateChainFile: missing, privateKeyFile: missing) }
                == .invalidConfiguration)
    }
}
