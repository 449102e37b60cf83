package import ApusChatStorage
import ApusChatWire

extension Command {
    /// Adds the keys that the decision on this command reads.
    package func addNeeds(to needs: inout Needs) {
        switch self.action {
        case .send(let send):
            needs.conversations.append(send.conversation)
            needs.members.append(MemberAddress(send.conversation, self.actor))
            if let request = self.request { needs.sends.append(SendAddress(send.conversation, self.actor, request.id)) }
            if case .success(let content) = send.content {
                for user in content.mentions { needs.members.append(MemberAddress(send.conversation, user)) }
                for blob in content.blobs { needs.blobs.append(BlobNeed(user: self.actor, blob: blob)) }
            }
        case .mark(let mark):
            let member = MemberAddress(mark.conversation, self.actor)
            needs.conversations.append(mark.conversation)
            needs.members.append(member)
            needs.skips.append(SkipNeed(member: member, above: mark.read))
        }
    }
}
