package import ApusChatProtocol

/// The credentials of an account.
package struct CredentialRow: Sendable, Equatable {
    package var user: UserKey
    /// The hash of the password, including the parameters of the hash function.
    package var password: String
    package var passwordChangedAt: Int64
    /// The encrypted secret of the authenticator (RFC 6238); empty without an authenticator.
    package var totpSecret: [UInt8] = []
    package var totpState = TOTPState.off
    /// The time step of the last accepted code. Codes of this step and earlier ones are refused.
    package var totpStep: Int64 = 0

    package init(user: UserKey, password: String, passwordChangedAt: Int64) {
        self.user = user
        self.password = password
        self.passwordChangedAt = passwordChangedAt
    }
}

/// The state of the authenticator of an account.
package enum TOTPState: UInt8, Sendable {
    case off = 0
    /// The secret was created, but not confirmed with a code. Sign-ins do not require a code.
    case pending = 1
    case on = 2
}

/// A signed-in device. The session ends when the row is removed. The key is random and never
/// reused.
package struct DeviceRow: Sendable, Equatable {
    package var key: DeviceKey
    package var user: UserKey
    package var name: String
    package var platform: String
    package var capabilities: [String] = []
    package var createdAt: Int64
    /// The time of the last sign-in or renewal, in milliseconds since 1970.
    package var seenAt: Int64
    /// The network address of the last sign-in or renewal; empty if unknown.
    package var address = ""
    /// The generation of the newest refresh token.
    package var generation: Int64 = 1
    /// Whether an access token of the newest generation was used. It is true for a new device.
    package var isConfirmed = true
    /// The time at which the newest refresh token was created, in milliseconds since 1970.
    package var rotatedAt: Int64

    package init(key: DeviceKey, user: UserKey, name: String, platform: String, at time: Int64) {
        self.key = key
        self.user = user
        self.name = name
        self.platform = platform
        self.createdAt = time
        self.seenAt = time
        self.rotatedAt = time
    }
}

/// The push subscription of a device. It is removed with the device.
package struct PushDeviceRow: Sendable, Equatable {
    package var key: DeviceKey
    package var user: UserKey
    /// The subscription as JSON text.
    package var subscription: String

    package init(key: DeviceKey, user: UserKey, subscription: String) {
        self.key = key
        self.user = user
        self.subscription = subscription
    }
}

/// A code that can be used once instead of the password or of a code from the authenticator. Only
/// the SHA-256 of the code is stored.
package struct CodeRow: Sendable, Equatable {
    package enum Purpose: UInt8, Sendable {
        /// A recovery code, with which a user replaces a lost password or authenticator.
        case recovery = 0
        /// The code of a link that an operator created for a user.
        case reset = 1
    }

    package var user: UserKey
    package var hash: [UInt8]
    package var purpose: Purpose
    /// The time from which the code is refused, in milliseconds since 1970; `Int64.max` if it does
    /// not expire.
    package var expiresAt: Int64

    package init(user: UserKey, hash: [UInt8], purpose: Purpose, expiresAt: Int64 = .max) {
        self.user = user
        self.hash = hash
        self.purpose = purpose
        self.expiresAt = expiresAt
    }
}

/// An invitation to create an account. Only the SHA-256 of its code is stored.
package struct InvitationRow: Sendable, Equatable {
    package var hash: [UInt8]
    package var createdAt: Int64
    package var expiresAt: Int64
    /// The number of accounts that can still be created. The storage removes the row when the
    /// number is 0.
    package var usesLeft: Int64

    package init(hash: [UInt8], createdAt: Int64, expiresAt: Int64, usesLeft: Int64 = 1) {
        self.hash = hash
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usesLeft = usesLeft
    }
}

/// The properties of a stored upload.
package struct BlobRow: Sendable, Equatable {
    package var id: BlobID
    package var size: Int64
    /// The media type of the stored bytes, which can differ from the type that the client sent.
    package var type: String
    /// The displayed width of a picture or video, in pixels; 0 for other files.
    package var width: Int64
    package var height: Int64
    package var createdAt: Int64
    /// The duration of a video or recording, in milliseconds; 0 if unknown.
    package var duration: Int64
    /// The BlurHash of a picture or video; empty for other files and if none was computed.
    package var thumb: String

    package init(
        id: BlobID, size: Int64, type: String, width: Int64 = 0, height: Int64 = 0, createdAt: Int64, duration: Int64 = 0,
        thumb: String = ""
    ) {
        self.duration = duration
        self.thumb = thumb
        self.id = id
        self.size = size
        self.type = type
        self.width = width
        self.height = height
        self.createdAt = createdAt
    }
}
