import ApusChatProtocol
import ApusChatStorage

enum CredentialColumns {
    static func row(_ row: SQLiteStatement, of user: UserKey) -> CredentialRow {
        var credential = CredentialRow(user: user, password: row.text(0), passwordChangedAt: row.int(1))
        credential.totpSecret = Array(row.bytes(2))
        credential.totpState = UInt8(exactly: row.int(3)).flatMap(TOTPState.init) ?? .on
        credential.totpStep = row.int(4)
        return credential
    }

    static func bind(_ credential: CredentialRow, to statement: SQLiteStatement) {
        statement.bind(1, credential.user.rawValue)
        statement.bind(2, credential.password)
        statement.bind(3, credential.passwordChangedAt)
        if credential.totpSecret.isEmpty { statement.bindNull(4) } else { statement.bind(4, bytes: credential.totpSecret) }
        statement.bind(5, Int64(credential.totpState.rawValue))
        statement.bind(6, credential.totpStep)
    }
}

enum DeviceColumns {
    static let list = "device, user, name, platform, capabilities, created_at, seen_at, address, generation, is_confirmed, rotated_at"

    static func row(_ row: SQLiteStatement) -> DeviceRow {
        var device = DeviceRow(
            key: DeviceKey(row.int(0)), user: UserKey(row.int(1)), name: row.text(2), platform: row.text(3), at: row.int(5))
        device.capabilities = ListText.texts(row.text(4))
        device.seenAt = row.int(6)
        device.address = row.text(7)
        device.generation = row.count(8)
        device.isConfirmed = row.bool(9)
        device.rotatedAt = row.int(10)
        return device
    }

    static func bind(_ device: DeviceRow, to statement: SQLiteStatement) {
        statement.bind(1, device.key.rawValue)
        statement.bind(2, device.user.rawValue)
        statement.bind(3, device.name)
        statement.bind(4, device.platform)
        if device.capabilities.isEmpty { statement.bindNull(5) } else { statement.bind(5, ListText.text(device.capabilities)) }
        statement.bind(6, device.createdAt)
        statement.bind(7, device.seenAt)
        statement.bind(8, device.address)
        statement.bind(9, device.generation)
        statement.bind(10, device.isConfirmed)
        statement.bind(11, device.rotatedAt)
    }
}

extension SQLiteStatement {
    func bind(_ index: Int32, bytes: [UInt8]) { bytes.withUnsafeBytes { self.bind(index, bytes: $0) } }
}
