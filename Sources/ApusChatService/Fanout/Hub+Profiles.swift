import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Logging

extension Hub {
    /// Sends changed profiles to connected contacts and to other members of shared conversations,
    /// as each recipient may see them.
    func tellProfiles(_ subjects: [UserKey]) {
        do {
            var told: [UserKey: [UserKey]] = [:]
            for subject in subjects {
                for viewer in try self.viewers(of: subject) { told[viewer, default: []].append(subject) }
            }
            for (viewer, subjects) in told.sorted(by: { $0.key < $1.key }) {
                let users = try self.context(of: viewer).users(subjects)
                guard let frame = Frame(ChatPushes.user, UserPush(users: users)) else { continue }
                self.push(frame, to: self.router.sockets(of: viewer))
            }
        } catch {
            self.logger.error("Changed profiles could not be pushed", metadata: ["error": "\(error)"])
        }
    }

    /// Returns the connected users who receive a changed profile. Contacts are first.
    private func viewers(of subject: UserKey) throws -> [UserKey] {
        let contacts = try self.reads.contacts(of: subject, after: nil, limit: ChatLimits.contacts)
        let friends = contacts.filter { $0.relation == .friend && !$0.isBlocked && !self.router.sockets(of: $0.address.peer).isEmpty }
        let first = friends.map(\.address.peer).prefix(ProfileDigest.recipients)
        let others = self.router.acquaintances(
            of: subject, in: try self.reads.conversations(of: subject), limit: ProfileDigest.recipients
        ).subtracting(first)
        return Array(first + others.sorted().prefix(ProfileDigest.recipients - first.count))
    }
}
