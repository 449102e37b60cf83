import ApusChatClient
import ApusChatProtocol
import Foundation

/// Commands for the user's account.
extension ChatCommander {
    func account(_ call: ChatCall) async throws {
        switch call.name {
        case .nick: try await self.setNick(call.words)
        case .status:
            try await self.client.setProfile(status: call.words)
            self.say(call.words.isEmpty ? "No status text." : "Others see the status text.")
        case .privacy: try await self.privacy(call)
        case .quiet: try await self.quietHours(call.words)
        case .sessions:
            let devices = try await self.client.devices()
            self.devices = devices.map(\.device)
            for (index, device) in devices.enumerated() {
                let words = "\(ChatText.harmless(device.name)), \(ChatText.harmless(device.platform))"
                let seen = device.isCurrent ? "this one" : "seen \(self.clock.moment(device.lastSeen))"
                self.say("\(index + 1). \(words)  \(device.address.map(ChatText.harmless) ?? "")  (\(seen))")
            }
        case .signout:
            if call.words == "others" {
                try await self.client.signOutOthers()
                return self.say("All other devices are signed out.")
            }
            guard let device = Self.entry(call.words, of: self.devices) else {
                throw ChatClientError(.invalidUse, message: "\"\(ChatText.harmless(call.words))\" is not a number in the list of /sessions")
            }
            try await self.client.signOut(device)
            self.say("The device is signed out.")
        case .export: self.say("The data was written to \(try await self.export(to: call.words)).", .good)
        default: break
        }
    }

    /// Sets the shown name. A command without a name shows the current name.
    private func setNick(_ name: String) async throws {
        guard !name.isEmpty else {
            let nick = await self.client.user(self.client.user)?.nick ?? self.client.user.rawValue
            return self.say("You are shown as \(ChatText.harmless(nick)); /nick NAME changes it, /nick - removes it.")
        }
        try await self.client.setProfile(nick: name == "-" ? "" : name)
        self.say("You are shown as \(ChatText.harmless(name == "-" ? self.client.user.rawValue : name)) now.")
    }

    /// Writes the data of the account to a new file.
    ///
    /// - Returns: The path of the file.
    package func export(to path: String) async throws -> String {
        let path = HomePath.expanded(path)
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ChatClientError(.invalidUse, message: "the file \(ChatText.harmless(path)) already exists; name a new file")
        }
        try await self.client.export(to: path)
        return ChatText.harmless(path)
    }

    /// Shows the privacy settings, or sets the setting that has a given name in the protocol.
    private func privacy(_ call: ChatCall) async throws {
        let parts = call.words.split(separator: " ").map(String.init)
        guard !parts.isEmpty else {
            let settings = try await self.client.settings()
            let audiences = [
                ("messages", settings.messages), ("last_seen", settings.lastSeen), ("avatar", settings.avatar), ("add", settings.add),
                ("find", settings.find),
            ]
            for (name, audience) in audiences { self.say("\(name): \(audience?.rawValue ?? "?")") }
            for (name, isOn) in [("receipts", settings.receipts), ("typing", settings.typing)] {
                self.say("\(name): \(isOn == false ? "no" : "yes")")
            }
            return
        }
        var settings = UserSettings()
        let value = parts.count == 2 ? parts[1] : ""
        let audience = Audience(rawValue: value).flatMap { $0 == .unknown ? nil : $0 }
        let isOn = ["yes": true, "no": false][value]
        switch parts[0] {
        case "messages": settings.messages = audience
        case "last_seen": settings.lastSeen = audience
        case "avatar": settings.avatar = audience
        case "add": settings.add = audience
        case "find": settings.find = audience
        case "receipts": settings.receipts = isOn
        case "typing": settings.typing = isOn
        default: break
        }
        guard settings != UserSettings() else {
            throw call.isNotValid
        }
        try await self.client.set(settings)
        self.say("\(parts[0]): \(value)")
    }

    /// Shows or sets the quiet hours, in local time. `off` removes them.
    private func quietHours(_ words: String) async throws {
        let parts = words.split(separator: " ").map(String.init)
        if parts.isEmpty {
            let settings = try await self.client.settings()
            guard let from = settings.quietFrom, let until = settings.quietUntil else {
                return self.say("No quiet hours. /quiet 22:00 07:00 sets them.", .dim)
            }
            return self.say("No notifications from \(self.clock.time(ofDay: from)) to \(self.clock.time(ofDay: until)).")
        }
        if parts == ["off"] {
            try await self.client.set(UserSettings(quietFrom: 0, quietUntil: 0))
            return self.say("No quiet hours.")
        }
        let minutes = parts.compactMap { self.clock.minute(ofDay: $0) }
        guard parts.count == 2, minutes.count == 2, minutes[0] != minutes[1] else {
            throw ChatClientError(.invalidUse, message: "\(ChatCommandName.quiet.usage): two times are required, such as 22:00 07:00")
        }
        try await self.client.set(UserSettings(quietFrom: minutes[0], quietUntil: minutes[1]))
        self.say("No notifications from \(self.clock.time(ofDay: minutes[0])) to \(self.clock.time(ofDay: minutes[1])).")
    }
}
