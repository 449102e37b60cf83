import Testing

@testable import ApusChatServer

@Suite struct LegacyDeliveryTests {
    @Test func readsNewMessagesAndWaitsForTheAcks() {
        var delivery = LegacyDelivery(next: 4)
        #expect(delivery.news(seq: 3) == .doNothing)
        #expect(delivery.news(seq: 5) == .fetch(from: 4))
        // A later event is fetched with the next page.
        #expect(delivery.news(seq: 6) == .doNothing)
        let page = delivery.fetched(last: 5, messages: [2, 3], awaited: [2, 3])
        #expect(page.read == nil && page.action == .doNothing)
        let late = delivery.answered(3)
        #expect(late.read == nil && late.action == .doNothing)
        let both = delivery.answered(2)
        #expect(both.read == 3 && both.action == .fetch(from: 6))
        let last = delivery.fetched(last: 6, messages: [4], awaited: [4])
        #expect(last.read == nil && last.action == .doNothing)
        #expect(delivery.answered(4).read == 4)
        #expect(delivery.answered(4).read == nil)
    }

    @Test func messagesWithoutAnAckAreReadWhenSent() {
        var delivery = LegacyDelivery(next: 1)
        #expect(delivery.news(seq: 2) == .fetch(from: 1))
        let page = delivery.fetched(last: 2, messages: [1, 2], awaited: [])
        #expect(page.read == 2 && page.action == .doNothing)
    }

    @Test func aMissingAckEndsTheReadPositionAndNotTheDelivery() {
        var delivery = LegacyDelivery(next: 1)
        _ = delivery.news(seq: 4)
        _ = delivery.fetched(last: 3, messages: [1, 2, 3], awaited: [1, 2, 3])
        #expect(delivery.answered(1).read == 1)
        #expect(delivery.answered(3).read == nil)
        #expect(delivery.unanswered(2) == .fetch(from: 4))
        _ = delivery.fetched(last: 4, messages: [4], awaited: [4])
        #expect(delivery.answered(4).read == nil)
        // A late ack changes nothing.
        #expect(delivery.answered(2).read == nil)
        #expect(delivery.unanswered(2) == .doNothing)
        #expect(delivery.news(seq: 5) == .fetch(from: 5))
    }

    @Test func aFailedReadIsRepeatedWithTheNextNews() {
        var delivery = LegacyDelivery(next: 1)
        #expect(delivery.news(seq: 1) == .fetch(from: 1))
        delivery.failed()
        #expect(delivery.news(seq: 2) == .fetch(from: 1))
    }

    @Test func anEmptyPageEndsTheDelivery() {
        var delivery = LegacyDelivery(next: 1)
        #expect(delivery.news(seq: 9) == .fetch(from: 1))
        #expect(delivery.fetched(last: nil, messages: [], awaited: []).action == .doNothing)
        #expect(delivery.news(seq: 0) == .doNothing)
        #expect(delivery.news(seq: 9) == .fetch(from: 1))
    }
}
