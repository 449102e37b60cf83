import ApusBytes
import Testing

@Suite struct CauseTextTests {
    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    @Test(arguments: [
        (
            "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:"
                + "CERTIFICATE_VERIFY_FAILED at /work/a b/CNIOBoringSSL/ssl/handshake.cc:320]))", "CERTIFICATE_VERIFY_FAILED"
        ),
        (
            "sslError([Error: 1 error:0b000074:X.509 certificate routines:OPENSSL_internal:KEY_VALUES_MISMATCH at x.cc:1, "
                + "Error: 2 error:1000007d:SSL routines:OPENSSL_internal:NO_CERTIFICATE_SET at y.cc:22, "
                + "Error: 2 error:1000007d:SSL routines:OPENSSL_internal:NO_CERTIFICATE_SET at y.cc:22])",
            "KEY_VALUES_MISMATCH, NO_CERTIFICATE_SET"
        ),
        ("error:1000007d:SSL routines:OPENSSL_internal:reason(1234)", "reason(1234)"),
        ("uncleanShutdown", "uncleanShutdown"), ("an error: at line 3", "an error: at line 3"), ("", ""),
    ])
    func sourceFilesAreNotShown(description: String, text: String) {
        #expect(CauseText.text(of: Failure(description: description)) == text)
    }
}
