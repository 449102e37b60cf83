import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct PushRouterTests {
    private let ann = UserKey(1)
    private let bob = UserKey(2)
    private let cid = UserKey(3)
    private let annSocket = SocketKey(11)
    private let bobSocket = SocketKey(12)
    private let bobPhone = SocketKey(13)
    private let group = ConversationKey(7)

    private func router() -> PushRouter {
        var router = PushRouter(largeConversation: 5, receiptMembers: 3)
        for (socket, user) in [(self.annSocket, self.ann), (self.bobSocket, self.bob), (self.bobPhone, self.bob)] {
            if router.connected(socket, user: user) { router.loaded([self.group], of: user) }
        }
        return router
    }

    private func batch(_ pushes: [Push], members: Int = 2, hidden: [AnnotationAddress] = []) -> DecidedBatch {
        var counters = ConversationCounters()
        counters.memberCount = members
        var changes = Changes()
        changes.conversations = [ConversationChange(key: self.group, counters: counters)]
        return DecidedBatch(changes: changes, pushes: pushes, hidden: hidden)
    }

    @Test func eventsGoToAllConnectionsOfTheMembers() {
        var router = self.router()
        #expect(
            router.route(self.batch([.events(self.group, first: 1, last: 3)]))
                == [.events(self.group, first: 1, last: 3, to: [self.annSocket, self.bobSocket, self.bobPhone])])
        #expect(router.route(self.batch([.events(ConversationKey(8), first: 1, last: 1)])).isEmpty)
    }

    @Test func membersWhoShowAConversationAreItsViewers() {
        var router = self.router()
        let other = ConversationKey(8)
        router.shows(self.bobPhone, [self.group, other])
        router.shows(self.annSocket, [self.group])
        #expect(router.viewers(of: [self.group], except: self.ann) == [self.bob: [self.bobPhone]])
        #expect(router.viewers(of: [self.group], except: self.cid) == [self.ann: [self.annSocket], self.bob: [self.bobPhone]])
        #expect(router.viewers(of: [other], except: self.ann).isEmpty, "showing makes no member")
        router.shows(self.bobPhone, [])
        #expect(router.viewers(of: [self.group], except: self.ann).isEmpty)
        router.disconnected(self.annSocket)
        #expect(router.viewers(of: [self.group], except: self.cid).isEmpty)
    }

    @Test func acquaintancesAreMembersOrTheViewersOfALargeConversation() {
        var router = self.router()
        #expect(router.acquaintances(of: self.ann, in: [self.group], limit: 9) == [self.bob])
        #expect(router.acquaintances(of: self.cid, in: [self.group], limit: 1).count == 1)
        #expect(router.acquaintances(of: self.ann, in: [ConversationKey(8)], limit: 9).isEmpty)
        for user in 20...23 as ClosedRange<Int64> where router.connected(SocketKey(user), user: UserKey(user)) {
            router.loaded([self.group], of: UserKey(user))
        }
        #expect(router.acquaintances(of: self.ann, in: [self.group], limit: 9).isEmpty)
        router.shows(self.bobPhone, [self.group])
        // A user who is not a member has the conversation open.
        _ = router.connected(SocketKey(30), user: self.cid)
        router.loaded([], of: self.cid)
        router.shows(SocketKey(30), [self.group])
        #expect(router.acquaintances(of: self.ann, in: [self.group], limit: 9) == [self.bob])
    }

    @Test func largeConversationsHaveNoViewers() {
        var router = self.router()
        for user in 20...23 as ClosedRange<Int64> where router.connected(SocketKey(user), user: UserKey(user)) {
            router.loaded([self.group], of: UserKey(user))
        }
        router.shows(self.annSocket, [self.group])
        #expect(router.viewers(of: [self.group], except: self.bob).isEmpty)
    }

    @Test func receiptsGoToTheOthersOfSmallConversations() {
        var router = self.router()
        #expect(router.receiptSockets(self.group, except: self.bob) == [self.annSocket])
        #expect(router.isMember(self.bob, of: self.group) == true)
        #expect(router.isMember(self.bob, of: ConversationKey(8)) == false)
        #expect(router.isMember(self.cid, of: self.group) == nil, "a user who is not connected")
        for user in 20...21 as ClosedRange<Int64> where router.connected(SocketKey(user), user: UserKey(user)) {
            router.loaded([self.group], of: UserKey(user))
        }
        #expect(router.receiptSockets(self.group, except: self.bob).isEmpty)
    }

    @Test func aUserWithHiddenEventsGetsAFrameOfItsOwn() {
        var router = self.router()
        let hidden = AnnotationAddress(EventAddress(self.group, 2), self.bob)
        #expect(
            router.route(self.batch([.events(self.group, first: 1, last: 3)], hidden: [hidden])) == [
                .personal(self.group, first: 1, last: 3, user: self.bob, to: [self.bobSocket, self.bobPhone]),
                .events(self.group, first: 1, last: 3, to: [self.annSocket]),
            ])
    }

    @Test func aDepartedMemberGetsTheEventsUpToTheEnd() {
        var router = self.router()
        let batch = self.batch([.events(self.group, first: 1, last: 3), .departed(self.group, self.bob, last: 2)])
        #expect(
            router.route(batch) == [
                .personal(self.group, first: 1, last: 2, user: self.bob, to: [self.bobSocket, self.bobPhone]),
                .events(self.group, first: 1, last: 3, to: [self.annSocket]),
            ])
        #expect(
            router.route(self.batch([.events(self.group, first: 4, last: 4)]))
                == [.events(self.group, first: 4, last: 4, to: [self.annSocket])])
    }

    @Test func anArrivedMemberGetsTheEventsFromTheArrivalOn() {
        var router = self.router()
        let socket = SocketKey(14)
        #expect(router.connected(socket, user: self.cid) == true)
        router.loaded([], of: self.cid)
        let batch = self.batch([.events(self.group, first: 1, last: 3), .arrived(self.group, self.cid, first: 3)])
        #expect(router.route(batch).contains(.personal(self.group, first: 3, last: 3, user: self.cid, to: [socket])))
        let next = router.route(self.batch([.events(self.group, first: 4, last: 4)]))
        #expect(next == [.events(self.group, first: 4, last: 4, to: [self.annSocket, self.bobSocket, self.bobPhone, socket])])
    }

    @Test func aMemberWhoReturnsInTheBatchStays() {
        var router = self.router()
        let pushes: [Push] = [
            .events(self.group, first: 1, last: 2), .departed(self.group, self.bob, last: 1), .arrived(self.group, self.bob, first: 2),
        ]
        _ = router.route(self.batch(pushes))
        #expect(
            router.route(self.batch([.events(self.group, first: 3, last: 3)]))
                == [.events(self.group, first: 3, last: 3, to: [self.annSocket, self.bobSocket, self.bobPhone])])
    }

    @Test func changesDuringTheReadOfConversationsTakePrecedence() {
        var router = self.router()
        let socket = SocketKey(14)
        let joined = ConversationKey(9)
        _ = router.connected(socket, user: self.cid)
        _ = router.route(self.batch([.departed(self.group, self.cid, last: 1), .arrived(joined, self.cid, first: 1)]))
        router.loaded([self.group], of: self.cid)
        #expect(
            router.route(self.batch([.events(self.group, first: 2, last: 2)]))
                == [.events(self.group, first: 2, last: 2, to: [self.annSocket, self.bobSocket, self.bobPhone])])
        #expect(
            router.route(self.batch([.events(joined, first: 2, last: 2)])) == [.events(joined, first: 2, last: 2, to: [socket])])
    }

    @Test func inALargeConversationOnlyViewersReceiveTheEvents() {
        var router = self.router()
        router.shows(self.bobPhone, [self.group])
        #expect(
            router.route(self.batch([.events(self.group, first: 1, last: 1)], members: 6)) == [
                .events(self.group, first: 1, last: 1, to: [self.bobPhone]), .nudge(self.group, to: [self.annSocket, self.bobSocket]),
            ])
    }

    @Test func readPositionsGoToTheOthersOfSmallConversations() {
        var router = self.router()
        let read = Push.read(self.group, by: self.ann, n: 4)
        #expect(
            router.route(self.batch([read], members: 3))
                == [.read(self.group, by: self.ann, n: 4, to: [self.bobSocket, self.bobPhone])])
        #expect(router.route(self.batch([read], members: 4)).isEmpty)
    }

    @Test func headsGoToTheirUser() {
        var router = self.router()
        #expect(
            router.route(
                self.batch([.head(self.group, of: self.bob), .head(self.group, of: self.cid), .user(self.ann, subject: self.bob)]))
                == [
                    .head(self.group, user: self.bob, to: [self.bobSocket, self.bobPhone]), .user(subject: self.bob, to: [self.annSocket]),
                ])
    }

    @Test func usersWhoseMentionsChangeGetTheirHead() {
        var router = self.router()
        var batch = self.batch([])
        batch.mentioned = [self.group: [self.bob, self.cid]]
        let bobs = PushRouter.Delivery.head(self.group, user: self.bob, to: [self.bobSocket, self.bobPhone])
        #expect(router.route(batch) == [bobs])
        batch.mentioned = [self.group: [UserKey(0)], ConversationKey(8): [self.bob]]
        #expect(router.route(batch) == [.head(self.group, user: self.ann, to: [self.annSocket]), bobs])
        batch.changes.conversations[0].counters.memberCount = 6
        #expect(router.route(batch).isEmpty, "told with the nudge")
        router.shows(self.bobPhone, [self.group])
        #expect(router.route(batch) == [.head(self.group, user: self.bob, to: [self.bobPhone])], "receives events, not the nudge")
    }

    @Test func eventsThatTooManyDoNotSeeAreRequested() {
        var router = self.router()
        var batch = self.batch([.events(self.group, first: 1, last: 1)])
        batch.nudged = [self.group]
        #expect(router.route(batch) == [.nudge(self.group, to: [self.annSocket, self.bobSocket, self.bobPhone])])
    }

    @Test func aDeletedConversationDisappearsForItsMembers() {
        var router = self.router()
        var batch = self.batch([.events(self.group, first: 1, last: 1)])
        batch.deleted = [self.group]
        #expect(
            router.route(batch) == [
                .head(self.group, user: self.ann, to: [self.annSocket]),
                .head(self.group, user: self.bob, to: [self.bobSocket, self.bobPhone]),
            ])
        #expect(router.route(self.batch([.events(self.group, first: 2, last: 2)])).isEmpty)
    }

    @Test func aConnectionThatDoesNotReadGetsHeadsOnlyAndIsThenClosed() {
        var router = self.router()
        #expect(router.stalled(self.bobPhone, at: 1_000) == .schedule(after: .seconds(30)))
        #expect(router.stalled(self.bobPhone, at: 2_000) == .doNothing)
        #expect(router.isStalled(self.bobPhone) && !router.isStalled(self.bobSocket))
        let events = self.batch([.events(self.group, first: 1, last: 1)])
        #expect(
            router.route(events) == [
                .events(self.group, first: 1, last: 1, to: [self.annSocket, self.bobSocket]), .nudge(self.group, to: [self.bobPhone]),
            ])
        let hidden = AnnotationAddress(EventAddress(self.group, 1), self.bob)
        #expect(
            router.route(self.batch([.events(self.group, first: 1, last: 1)], hidden: [hidden])) == [
                .head(self.group, user: self.bob, to: [self.bobPhone]),
                .personal(self.group, first: 1, last: 1, user: self.bob, to: [self.bobSocket]),
                .events(self.group, first: 1, last: 1, to: [self.annSocket]),
            ])
        #expect(router.stallTimerFired(self.bobPhone, at: 30_999) == .schedule(after: .milliseconds(1)))
        #expect(router.stallTimerFired(self.bobPhone, at: 31_000) == .close)
        router.drained(self.bobPhone)
        #expect(router.stallTimerFired(self.bobPhone, at: 31_000) == .doNothing)
        #expect(router.route(events) == [.events(self.group, first: 1, last: 1, to: [self.annSocket, self.bobSocket, self.bobPhone])])
        #expect(router.stalled(SocketKey(99), at: 0) == .doNothing)
    }

    @Test func aConnectionThatDoesNotReadIsNotInformedOfAnEndThatItsUserMayNotSee() {
        var router = self.router()
        _ = router.stalled(self.bobSocket, at: 0)
        _ = router.stalled(self.bobPhone, at: 0)
        let hidden = AnnotationAddress(EventAddress(self.group, 2), self.bob)
        #expect(
            router.route(self.batch([.events(self.group, first: 1, last: 3)], hidden: [hidden])) == [
                .head(self.group, user: self.bob, to: [self.bobSocket, self.bobPhone]),
                .events(self.group, first: 1, last: 3, to: [self.annSocket]),
            ])
        #expect(
            router.route(self.batch([.events(self.group, first: 4, last: 6), .departed(self.group, self.bob, last: 5)])) == [
                .head(self.group, user: self.bob, to: [self.bobSocket, self.bobPhone]),
                .events(self.group, first: 4, last: 6, to: [self.annSocket]),
            ])
    }

    @Test func aMemberWhoDepartsFromALargeConversationIsNotInformedOfItsEnd() {
        var router = self.router()
        let pushes: [Push] = [.events(self.group, first: 1, last: 3), .departed(self.group, self.bob, last: 2)]
        let sockets = [self.bobSocket, self.bobPhone]
        #expect(
            router.route(self.batch(pushes, members: 6)) == [
                .head(self.group, user: self.bob, to: sockets), .nudge(self.group, to: [self.annSocket]),
            ])
        router = self.router()
        var batch = self.batch(pushes)
        batch.nudged = [self.group]
        #expect(router.route(batch) == [.head(self.group, user: self.bob, to: sockets), .nudge(self.group, to: [self.annSocket])])
    }

    @Test func aDigestIsSentToAllConnectionsOfTheMembers() {
        let router = self.router()
        #expect(
            router.digest([self.group, ConversationKey(8)]) == [.nudge(self.group, to: [self.annSocket, self.bobSocket, self.bobPhone])])
    }

    @Test func aUserWithoutConnectionsIsForgotten() {
        var router = self.router()
        router.disconnected(self.bobSocket)
        #expect(router.sockets(of: self.bob) == [self.bobPhone])
        router.disconnected(self.bobPhone)
        router.disconnected(self.bobPhone)
        #expect(router.userCount == 1)
        #expect(
            router.route(self.batch([.events(self.group, first: 1, last: 1)]))
                == [.events(self.group, first: 1, last: 1, to: [self.annSocket])])
        #expect(router.connected(self.bobSocket, user: self.bob) == true, "the conversations are read again")
    }
}
