package import ApusConnectivity
import ApusEngineIOProtocol
import ApusFramedProtocol
import ApusSocketIOProtocol
import ApusWebSocketProtocol

/// Formats errors as one line for the user.
package enum ErrorText {
    /// Returns the message of the innermost error of this package, followed by its cause from the
    /// system, TLS or another library in parentheses. For any other error, returns its reason.
    package static func line(_ error: any Error) -> String {
        var text: String?
        var next: (any Error)? = error
        while let current = next {
            guard let (message, cause) = self.parts(of: current) else {
                let reason = ConnectivityError.reason(of: current)
                return text.map { "\($0) (\(reason))" } ?? reason
            }
            text = message
            next = cause
        }
        return text ?? "\(error)"
    }

    /// Returns the first connectivity error among an error and its causes; nil if all are of other
    /// types.
    package static func connectivity(_ error: any Error) -> ConnectivityError? {
        var next: (any Error)? = error
        while let current = next {
            if let found = current as? ConnectivityError { return found }
            next = self.parts(of: current)?.cause
        }
        return nil
    }

    private static func parts(of error: any Error) -> (message: String, cause: (any Error)?)? {
        switch error {
        case let error as ConnectivityError: (error.message, error.cause)
        case let error as WebSocketError: (error.message, error.cause)
        case let error as EngineIOError: (error.message, error.cause)
        case let error as SocketIOError: (error.message, error.cause)
        case let error as FramedError: (error.message, error.cause)
        default: nil
        }
    }
}
