import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Forwarded messages, and deleted accounts.
extension Oracle {
    /// Returns the user whom a forwarded message names as the original sender; nil if there is
    /// none.
    func origin(of content: MessageContent) -> UserKey? {
        guard let body = (try? JSONReader.read(Array(content.body.utf8)))?.objectValue, let object = body["forwarded"]?.objectValue,
            case .string(let name)? = object["sender"]
        else { return nil }
        return self.user(named: name)
    }

    /// Returns a description of the fault if the server reads a wrong message for a forward; nil if
    /// the message is correct.
    ///
    /// - Parameter content: The content that the server read; nil if it refuses the forward.
    func fault(ofForward content: MessageContent?, of address: EventAddress, by user: UserKey) -> String? {
        let description = "event \(address.seq) of \(address.conversation.rawValue), forwarded by \(user.rawValue),"
        guard let book = self.books[address.conversation], let person = book.people[user], let index = book.index(of: address.seq),
            book.entries[index].n > 0, book.entries[index].call == nil,
            self.appearance(of: book.entries[index], in: book, to: person, user) == .full
        else { return content == nil ? nil : "\(description) is not visible to the user" }
        guard let content else { return "\(description) is refused" }
        let entry = book.entries[index]
        let isFirstForm = person.blockSeq > 0 && entry.sender != user && entry.editSeq > person.blockSeq
        let text = isFirstForm ? entry.original : entry.text
        let title = isFirstForm ? entry.originalPreview : entry.preview
        guard Body.text(content.body) == text, Body.title(content.body) == title else {
            return "\(description) has the content \(content.body) instead of \(text) (\(title))"
        }
        let origin = (isFirstForm ? entry.firstOrigin : entry.origin) ?? entry.sender
        guard self.origin(of: content) == origin else { return "\(description) has the wrong origin" }
        return nil
    }

    /// Returns the messages in other conversations whose text equals that of a message.
    func copies(of address: EventAddress) -> [EventAddress] {
        guard let book = self.books[address.conversation], let index = book.index(of: address.seq), !book.entries[index].text.isEmpty
        else { return [] }
        let text = book.entries[index].text
        return self.books.keys.sorted().filter { $0 != address.conversation }.flatMap { key in
            (self.books[key]?.entries ?? []).filter { $0.text == text && $0.n > 0 }.map { EventAddress(key, $0.seq) }
        }
    }

    /// Returns a member who can read the whole log; nil if no member can.
    func founder(of key: ConversationKey) -> UserKey? {
        self.books[key]?.people.filter { $1.state == .joined && $1.first == 1 }.keys.min()
    }

    /// Checks that no message of a deleted account has content, and that its user is not a member
    /// of any group or channel.
    func finishErasure(of user: UserKey) -> Verdict {
        for (key, book) in self.books {
            for entry in book.entries where entry.sender == user && entry.n > 0 && !entry.state.isBlank {
                self.faults.append("the deleted account \(user.rawValue) has the message \(entry.seq) in \(key.rawValue)")
            }
            if !book.isPlain, book.people[user]?.state == .joined {
                self.faults.append("the deleted account \(user.rawValue) is a member of \(key.rawValue)")
            }
        }
        return .unchanged
    }
}
