package import ApusChatHTTP
import ApusChatProtocol
package import ApusChatSQLite
import ApusChatStorage
import ApusEventLoop
import ApusJSON
import Foundation

/// Performs the commands of an operator. Answers are text with one row on each line. Tabs separate
/// the fields of a row.
package final class Administration: Sendable {
    private let accounts: Accounts
    private let reads: QueueBound<SQLiteReads>
    /// The maximum number of rows of an answer.
    private static let pageRows = 1_000

    package init(accounts: Accounts, folder: ChatFolder) throws {
        self.accounts = accounts
        self.reads = QueueBound(try SQLiteReads(folder), label: "apus.chat.administration")
    }

    /// Performs a command on a data folder. If a server uses the folder, the server performs the
    /// command.
    package static func perform(_ words: [String], in dataFolder: String) async throws -> String {
        if let answer = try await AdministrationSocket.request(words, in: dataFolder) {
            guard let text = answer["text"]?.stringValue else {
                throw ChatError(.badRequest, message: answer["error"]?.stringValue ?? "The server did not answer the command.")
            }
            return text
        }
        guard FileManager.default.fileExists(atPath: dataFolder + "/chat.sqlite") else {
            throw Self.invalid("The folder \(dataFolder) contains no chat database. Name the data folder with --data.")
        }
        let folder = try ChatFolder(dataFolder)
        let accounts = try Accounts(
            database: DatabaseThread { try SQLiteStorage(folder) }, folder: dataFolder, configuration: AccountsConfiguration(),
            clock: ServerClock(.machine, folder: dataFolder).forAccounts)
        defer {
            accounts.close()
            folder.unlock()
        }
        return try await Administration(accounts: accounts, folder: folder).perform(words)
    }

    /// Returns the message of an error for an operator.
    package static func message(of error: any Error) -> String {
        switch error {
        case let error as ChatError: error.message
        case let error as StorageError: error.message
        default: "\(error)"
        }
    }

    /// The list of commands for the help text.
    package static let help = """
        accounts [AFTER]            list accounts; continue after the account AFTER
        create NAME                 create an account and make a password code for it
        disable NAME                suspend an account and end its sessions
        enable NAME                 end the suspension of an account
        delete NAME                 delete an account; its name is never assigned again
        password-code NAME          make a code with which the user sets a new password within a day
        sessions NAME               list the sessions of an account
        end-sessions NAME [DEVICE]  end one session, or all of them
        invite [USES] [DAYS]        make an invitation; default: 1 use within 7 days
        invitations                 list invitations
        revoke NUMBER               end the invitation whose number begins with NUMBER
        reports [BEFORE]            list reports that are not resolved, newest first; continue before the number BEFORE
        reports all [BEFORE]        list all reports
        resolve NUMBER              mark a report as resolved
        stats                       count the rows of the database
        check                       examine the whole database
        backup FILE                 write a copy of the database to a new file; copy the folder `blobs` after it
        vacuum                      rewrite the database without unused space; messages wait for the end
        """

    /// Performs a command.
    ///
    /// - Throws: `ChatError` for an invalid command; `StorageError` if the storage fails.
    package func perform(_ words: [String]) async throws -> String {
        guard let command = words.first else { throw Self.invalid("A command is required. The commands are:\n\(Self.help)") }
        let arguments = Array(words.dropFirst())
        switch (command, arguments.count) {
        case ("accounts", 0...1): return try await self.listAccounts(after: arguments.first)
        case ("create", 1):
            try await self.accounts.create(try Self.name(arguments[0]))
            return try Self.found(try await self.accounts.makeResetCode(for: try Self.name(arguments[0])))
        case ("disable", 1), ("enable", 1):
            let isNew = try Self.found(try await self.accounts.setSuspended(command == "disable", try Self.name(arguments[0])))
            return isNew ? "\(command)d" : "unchanged"
        case ("delete", 1):
            _ = try Self.found(try await self.accounts.delete(try Self.name(arguments[0])))
            return "deleted"
        case ("password-code", 1): return try Self.found(try await self.accounts.makeResetCode(for: try Self.name(arguments[0])))
        case ("sessions", 1):
            return try Self.found(try await self.accounts.sessions(of: try Self.name(arguments[0]))).map { row in
                Self.line(DeviceID(number: row.key.rawValue).description, row.name, row.platform, row.address, Self.time(row.seenAt))
            }.joined(separator: "\n")
        case ("end-sessions", 1...2):
            let device = try arguments.dropFirst().first.map { text in
                guard let device = DeviceID(text) else { throw Self.invalid("`\(text)` is not a device id.") }
                return device
            }
            return "ended \(try Self.found(try await self.accounts.endSessions(of: try Self.name(arguments[0]), device: device)))"
        case ("invite", 0...2):
            let uses = try Self.number(arguments.first, default: 1, in: 1...100_000)
            let days = try Self.number(arguments.dropFirst().first, default: 7, in: 1...3_650)
            return try await self.accounts.makeInvitation(uses: uses, lifetime: days * 86_400_000)
        case ("invitations", 0): return try await self.listInvitations()
        case ("revoke", 1): return try await self.revoke(arguments[0])
        case ("reports", 1...2) where arguments[0] == "all":
            return try await self.listReports(
                isOpen: false, before: try Self.number(arguments.dropFirst().first, default: .max, in: 1 ... .max))
        case ("reports", 0...1):
            return try await self.listReports(isOpen: true, before: try Self.number(arguments.first, default: .max, in: 1 ... .max))
        case ("resolve", 1):
            let number = try Self.number(arguments[0], default: 0, in: 1 ... .max)
            let now = SystemClock.machine.wall()
            let isResolved = try await self.accounts.database.write { storage in
                try (storage as? SQLiteStorage)?.resolveReport(number, at: now) ?? false
            }
            guard isResolved else { throw ChatError(.notFound, message: "No open report has the number \(number).") }
            return "resolved"
        case ("stats", 0):
            return try await self.read { try $0.statistics() }.map { "\($0.name)\t\($0.count)" }.joined(separator: "\n")
        case ("check", 0):
            let faults = try await self.read { try $0.check() }
            guard faults.isEmpty else { throw ChatError(.storage, message: faults.joined(separator: "\n")) }
            return "ok"
        case ("backup", 1):
            let path = arguments[0]
            guard path.hasPrefix("/"), !FileManager.default.fileExists(atPath: path) else {
                throw Self.invalid("`\(path)` must be an absolute path at which no file exists.")
            }
            try await self.read { try $0.backUp(to: path) }
            return path
        case ("vacuum", 0):
            try await self.accounts.database.write { storage in try (storage as? SQLiteStorage)?.vacuum() }
            return "done"
        default: throw Self.invalid("The command `\(command)` does not exist or has wrong arguments. The commands are:\n\(Self.help)")
        }
    }

    // MARK: Lists

    private func listAccounts(after name: String?) async throws -> String {
        let name = try name.map(Self.name)
        let rows = try await self.read { reads -> [AccountRow] in
            let cursor = try name.map { name in try Self.found(try reads.userKeys(named: [name]).first ?? nil) }
            return try reads.allAccounts(after: cursor, limit: Self.pageRows)
        }
        return rows.map { Self.line($0.name.rawValue, "\($0.state)", $0.nickname) }.joined(separator: "\n")
    }

    private func invitations() async throws -> [InvitationRow] {
        try await self.read { reads in
            var all: [InvitationRow] = []
            while all.count < 100_000 {
                let page = try reads.invitations(after: all.last?.hash ?? [], limit: Self.pageRows)
                all += page
                if page.count < Self.pageRows { break }
            }
            return all
        }
    }

    /// Returns the number by which operators identify an invitation. The number does not reveal the
    /// code.
    private static func number(of invitation: InvitationRow) -> String {
        invitation.hash.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func listInvitations() async throws -> String {
        try await self.invitations().map { row in
            Self.line(Self.number(of: row), "\(row.usesLeft) uses", "until " + Self.time(row.expiresAt))
        }.joined(separator: "\n")
    }

    private func revoke(_ number: String) async throws -> String {
        let found = try await self.invitations().filter { number.utf8.count >= 4 && Self.number(of: $0).hasPrefix(number.lowercased()) }
        guard let row = found.first, found.count == 1 else {
            throw Self.invalid("`\(number)` must be the first four or more digits of one invitation.")
        }
        try await self.accounts.revoke(row)
        return "revoked"
    }

    private func listReports(isOpen: Bool, before number: Int64) async throws -> String {
        try await self.read { reads in
            let reports = try reads.reports(isOpen: isOpen, before: number, limit: Self.pageRows)
            return try reports.map { number, report in
                let names = try [report.reporter, report.subject].map { user in
                    try user.map { try reads.accounts([$0]).first?.name.rawValue ?? "?" } ?? ""
                }
                let conversation = report.event?.conversation ?? report.conversation
                let place = conversation.map { "\(ConversationID(number: $0.rawValue))" + (report.event.map { " \($0.seq)" } ?? "") } ?? ""
                let state = report.resolvedAt > 0 ? "resolved " + Self.time(report.resolvedAt) : "open"
                return Self.line("\(number)", Self.time(report.at), state, names[0], names[1], place, report.reason, report.text)
            }.joined(separator: "\n")
        }
    }

    private func read<Value: Sendable>(_ body: @escaping @Sendable (SQLiteReads) throws -> Value) async throws -> Value {
        try await self.reads.run(body)
    }

    // MARK: Texts

    /// Returns the fields as one line. Replaces characters that could control the terminal, end the
    /// line or reverse its direction, because users choose the texts.
    private static func line(_ fields: String...) -> String { fields.map(Self.harmless).joined(separator: "\t") }

    private static func harmless(_ field: String) -> String {
        String(
            String.UnicodeScalarView(
                field.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar.properties.isBidiControl ? " " : scalar
                    }
                }))
    }

    private static func time(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
    }

    private static func name(_ text: String) throws(ChatError) -> UserName {
        guard let name = UserName(text) else { throw self.invalid("`\(text)` is not a valid account name.") }
        return name
    }

    private static func number(_ text: String?, default standard: Int64, in range: ClosedRange<Int64>) throws(ChatError) -> Int64 {
        guard let text else { return standard }
        guard let number = Int64(text), range.contains(number) else {
            throw self.invalid("`\(text)` must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func found<Value>(_ value: Value?) throws(ChatError) -> Value {
        guard let value else { throw ChatError(.notFound, message: "There is no account with this name, or it was deleted.") }
        return value
    }

    private static func invalid(_ message: String) -> ChatError { ChatError(.badRequest, message: message) }
}
