import ApusBytes
import ApusJSON

/// Maps an HTTP response other than 200 to an error.
///
/// Node's engine.io sends `{"code":n,"message":"…"}`, python-engineio a JSON string, and a proxy
/// any body.
package enum EngineIOHTTPRefusal {
    /// Returns the error for a status and a body.
    package static func error(status: Int, body: [UInt8]) -> EngineIOError {
        let value = try? JSONReader.read(body, limits: .init(loneSurrogates: .replace))
        let text = PeerText.clean(value?["message"]?.stringValue ?? value?.stringValue ?? Self.firstLine(of: body))
        let code: EngineIOError.Code
        switch (value?["code"]?.intValue, status) {
        case (0, _): code = .transportUnknown
        case (1, _): code = .sessionUnknown
        case (2, _): code = .badHandshakeMethod
        case (3, _): code = .badRequest
        case (4, _): code = .forbidden
        case (5, _): code = .unsupportedVersion
        // python-engineio sends only the text.
        case (nil, 400) where text.contains("unsupported version"): code = .unsupportedVersion
        case (_, 401), (_, 403): code = .forbidden
        case (_, 413): code = .payloadTooLarge
        case (_, 400): code = .badRequest
        default: code = .connectionRefused
        }
        return EngineIOError(code, message: "the server answered HTTP \(status)\(text.isEmpty ? "" : ": \(text)")")
    }

    /// The maximum number of bytes examined in a body that is not JSON.
    private static let examinedBytes = 800

    /// Returns the first line with visible characters. The body may be a page for a browser.
    private static func firstLine(of body: [UInt8]) -> String {
        let lines = body.prefix(Self.examinedBytes).split { $0 == 0x0a || $0 == 0x0d }
        let line = lines.first { $0.contains { $0 > 0x20 } } ?? []
        return String(decoding: line, as: UTF8.self)
    }
}
