import ApusJSON
import Testing

@testable import ApusChatClient

@Suite("What waits for the engine") struct ChatMailboxTests {
    /// The names of all remaining events.
    private func rest(of mailbox: ChatMailbox) async -> [String] {
        mailbox.finish()
        var names: [String] = []
        for await event in mailbox.events {
            switch event {
            case .connected: names.append("connected")
            case .disconnected: names.append("disconnected")
            case .refused: names.append("refused")
            case .pushesLost: names.append("lost")
            case .push(let name, _): names.append(name)
            }
        }
        return names
    }

    @Test func everythingComesInOrder() async {
        let mailbox = ChatMailbox(capacity: 8)
        mailbox.put(.connected)
        mailbox.put(.push(name: "a", payload: .null))
        mailbox.put(.disconnected(reason: "", comesBack: true))
        #expect(await self.rest(of: mailbox) == ["connected", "a", "disconnected"])
    }

    @Test func pushesBeyondTheBoundLeaveOneMark() async {
        let mailbox = ChatMailbox(capacity: 2)
        for name in ["a", "b", "c", "d"] { mailbox.put(.push(name: name, payload: .null)) }
        mailbox.put(.disconnected(reason: "", comesBack: true))
        #expect(await self.rest(of: mailbox) == ["a", "b", "lost", "disconnected"])
    }

    @Test func whatWasTakenMakesRoom() async {
        let mailbox = ChatMailbox(capacity: 1)
        var events = mailbox.events.makeAsyncIterator()
        for name in ["a", "b", "c"] {
            mailbox.put(.push(name: name, payload: .null))
            guard case .push(name, _)? = await events.next() else {
                Issue.record("\(name) did not come")
                return
            }
        }
    }

    @Test func aWaitingReaderIsWoken() async {
        let mailbox = ChatMailbox(capacity: 1)
        async let names: [String] = {
            var names: [String] = []
            for await case .push(let name, _) in mailbox.events { names.append(name) }
            return names
        }()
        await Task.yield()
        mailbox.put(.push(name: "late", payload: .null))
        mailbox.finish()
        #expect(await names == ["late"])
    }
}
