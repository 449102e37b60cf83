/// The statements of sign-ins and uploads.
enum CredentialQuery: Int, Query {
    case credential, setCredential, removeCredential
    case device, devices, setDevice, removeDevice, setPush, pushesOfUser, pushes
    case code, setCode, removeCode, clearCodes
    case invitation, setInvitation, removeInvitation
    case blob, setBlob, quota, addToQuota, orphans, nextBlob, unreferred, uploaders, uploads, removeUploads, removeBlob

    static var group: QueryGroup { .credential }

    var sql: String {
        switch self {
        case .credential:
            "SELECT password, password_changed_at, totp_secret, totp_state, totp_step FROM credential WHERE user = ?1"
        case .setCredential:
            """
            INSERT OR REPLACE INTO credential (user, password, password_changed_at, totp_secret, totp_state, totp_step)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        case .removeCredential: "DELETE FROM credential WHERE user = ?1"
        case .device: "SELECT \(DeviceColumns.list) FROM device WHERE device = ?1"
        case .devices:
            """
            SELECT \(DeviceColumns.list) FROM device INDEXED BY device_user WHERE user = ?1
            ORDER BY seen_at DESC, device DESC LIMIT ?2
            """
        case .setDevice:
            """
            INSERT INTO device (\(DeviceColumns.list)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT (device) DO UPDATE SET name = ?3, platform = ?4, capabilities = ?5, seen_at = ?7, address = ?8, generation = ?9,
                is_confirmed = ?10, rotated_at = ?11
            """
        case .removeDevice: "DELETE FROM device WHERE device = ?1"
        case .setPush: "UPDATE device SET push = ?2 WHERE device = ?1"
        case .pushesOfUser:
            """
            SELECT device, user, push FROM device INDEXED BY device_user WHERE user = ?1 AND push IS NOT NULL
            ORDER BY seen_at DESC, device DESC LIMIT ?2
            """
        case .pushes: "SELECT device, user, push FROM device WHERE device > ?1 AND push IS NOT NULL ORDER BY device LIMIT ?2"
        case .code: "SELECT purpose, expires_at FROM code WHERE user = ?1 AND hash = ?2"
        case .setCode: "INSERT OR REPLACE INTO code (user, hash, purpose, expires_at) VALUES (?1, ?2, ?3, ?4)"
        case .removeCode: "DELETE FROM code WHERE user = ?1 AND hash = ?2"
        case .clearCodes: "DELETE FROM code WHERE user = ?1 AND purpose = ?2"
        case .invitation: "SELECT created_at, expires_at, uses_left FROM invitation WHERE hash = ?1"
        case .setInvitation: "INSERT OR REPLACE INTO invitation (hash, created_at, expires_at, uses_left) VALUES (?1, ?2, ?3, ?4)"
        case .removeInvitation: "DELETE FROM invitation WHERE hash = ?1"
        case .blob: "SELECT size, type, width, height, created_at, duration, thumb FROM blob WHERE digest = ?1 AND type <> ''"
        // A reference can add the row of a blob before the size and the type are known.
        case .setBlob:
            """
            UPDATE blob SET size = ?2, type = ?3, width = ?4, height = ?5, created_at = ?6, duration = ?7, thumb = ?8
            WHERE id = ?1 AND type = ''
            """
        case .quota: "SELECT bytes FROM quota WHERE user = ?1"
        // Uploads from before the second version of the schema are not in the quota.
        case .addToQuota:
            "INSERT INTO quota (user, bytes) VALUES (?1, max(0, ?2)) ON CONFLICT (user) DO UPDATE SET bytes = max(0, bytes + ?2)"
        case .orphans:
            """
            SELECT b.digest FROM blob b WHERE b.id > ?2 AND b.id <= ?3 AND b.created_at < ?1 AND \(Self.isUnreferred)
            ORDER BY b.id
            """
        case .nextBlob: "SELECT id FROM blob WHERE id > ?1 ORDER BY id LIMIT 1"
        case .unreferred: "SELECT b.id, b.size FROM blob b WHERE b.digest = ?1 AND \(Self.isUnreferred)"
        case .uploaders: "SELECT user FROM upload WHERE blob = ?1"
        case .uploads:
            """
            SELECT b.digest, b.size, b.type, b.width, b.height, b.created_at, b.duration, b.thumb
            FROM upload u JOIN blob b ON b.id = u.blob
            WHERE u.blob > ?2 AND u.blob <= ?3 AND u.user = ?1 AND b.type <> '' ORDER BY u.blob
            """
        case .removeUploads: "DELETE FROM upload WHERE blob = ?1"
        case .removeBlob: "DELETE FROM blob WHERE id = ?1"
        }
    }

    private static let isUnreferred = """
        NOT EXISTS (SELECT 1 FROM blob_ref r WHERE r.blob = b.id) \
        AND NOT EXISTS (SELECT 1 FROM account a WHERE a.avatar = b.digest) \
        AND NOT EXISTS (SELECT 1 FROM conversation v WHERE v.avatar = b.digest)
        """
}
