import ApusChatProtocol
import ApusChatStorage

extension SQLiteStorage {
    /// Writes the changes of sign-ins and uploads within the transaction of their batch.
    func write(_ changes: CredentialChanges) throws(StorageError) {
        for user in changes.removedCredentials { try self.run(.removeCredential, user.rawValue) }
        for device in changes.removedDevices { try self.run(.removeDevice, device.rawValue) }
        for (user, purpose) in changes.clearedCodes { try self.run(.clearCodes, user.rawValue, Int64(purpose.rawValue)) }
        for code in changes.removedCodes {
            let statement = try self.connection.statement(CredentialQuery.removeCode).with(code.user.rawValue)
            statement.bind(2, bytes: code.hash)
            try statement.run()
        }
        for credential in changes.credentials {
            let statement = try self.connection.statement(CredentialQuery.setCredential)
            CredentialColumns.bind(credential, to: statement)
            try statement.run()
        }
        for device in changes.devices {
            let statement = try self.connection.statement(CredentialQuery.setDevice)
            DeviceColumns.bind(device, to: statement)
            try statement.run()
        }
        for (device, subscription) in changes.pushes {
            let statement = try self.connection.statement(CredentialQuery.setPush).with(device.rawValue)
            if let subscription { statement.bind(2, subscription) } else { statement.bindNull(2) }
            try statement.run()
        }
        for code in changes.codes {
            let statement = try self.connection.statement(CredentialQuery.setCode).with(code.user.rawValue)
            statement.bind(2, bytes: code.hash)
            statement.bind(3, Int64(code.purpose.rawValue))
            statement.bind(4, code.expiresAt)
            try statement.run()
        }
        for invitation in changes.invitations { try self.write(invitation) }
        for (blob, user) in changes.uploads { try self.write(blob, uploadedBy: user) }
        for blob in changes.collectedBlobs { try self.collect(blob) }
    }

    private func run(_ query: CredentialQuery, _ first: Int64, _ second: Int64? = nil) throws(StorageError) {
        let statement = try self.connection.statement(query).with(first)
        if let second { statement.bind(2, second) }
        try statement.run()
    }

    private func write(_ invitation: InvitationRow) throws(StorageError) {
        let statement = try self.connection.statement(
            invitation.usesLeft > 0 ? CredentialQuery.setInvitation : .removeInvitation)
        statement.bind(1, bytes: invitation.hash)
        if invitation.usesLeft > 0 {
            statement.bind(2, invitation.createdAt)
            statement.bind(3, invitation.expiresAt)
            statement.bind(4, invitation.usesLeft)
        }
        try statement.run()
    }

    private func write(_ blob: BlobRow, uploadedBy user: UserKey) throws(StorageError) {
        let number = try self.number(of: blob.id)
        let properties = try self.connection.statement(CredentialQuery.setBlob).with(number, blob.size)
        properties.bind(3, blob.type)
        properties.bind(4, blob.width)
        properties.bind(5, blob.height)
        properties.bind(6, blob.createdAt)
        properties.bind(7, blob.duration)
        properties.bind(8, blob.thumb)
        try properties.run()
        try self.connection.statement(ChangeQuery.addUpload).with(number, user.rawValue).run()
        if self.connection.changedRows > 0 { try self.run(.addToQuota, user.rawValue, blob.size) }
    }

    /// Removes a blob, unless a reference to the blob was added in the meantime.
    private func collect(_ blob: BlobID) throws(StorageError) {
        let find = try self.connection.statement(CredentialQuery.unreferred)
        find.bind(1, blob.rawValue)
        guard let (number, size) = try find.first({ ($0.int(0), $0.int(1)) }) else { return }
        let uploaders = try self.connection.statement(CredentialQuery.uploaders).with(number).all { $0.int(0) }
        for user in uploaders { try self.run(.addToQuota, user, -size) }
        try self.run(.removeUploads, number)
        try self.run(.removeBlob, number)
    }
}
