import ApusChatCore
import ApusChatProtocol
import Testing

@Suite struct CallMeshTests {
    private let alice = UserName(prepared: "alice")
    private let bob = UserName(prepared: "bob")
    private let carol = UserName(prepared: "carol")

    private func mesh(_ session: String = "m", isGroup: Bool = false) -> CallMesh {
        CallMesh(session: session, me: self.alice, isGroup: isGroup)
    }

    private func peer(_ user: UserName, _ session: String, device: Int64 = 1) -> CallMesh.Peer {
        CallMesh.Peer(user: user, device: DeviceID(number: device), session: session)
    }

    private func receive(
        _ content: CallSignal.Content, from peer: CallMesh.Peer, to recipient: String? = nil, in phase: DeviceCallMachine.Phase = .active,
        _ mesh: inout CallMesh
    ) -> [CallMesh.Action] {
        var isAnnouncement = false
        if case .join(let isReply, _) = content { isAnnouncement = !isReply }
        let signal = CallSignal(content, session: peer.session, recipient: recipient ?? (isAnnouncement ? "" : mesh.session))
        return mesh.received(signal, from: peer.user, peer.device, in: phase)
    }

    @Test func anAnnouncementIsAnsweredAndTheGreaterSessionOffers() {
        for (session, offers) in [("a", true), ("z", false)] {
            var mesh = self.mesh()
            let bob = self.peer(self.bob, session)
            #expect(
                self.receive(.join(), from: bob, in: .outgoing, &mesh) == [
                    .send(.join(isReply: true), to: .peer(bob)), .connect(bob, offers: offers), .connected,
                ])
            #expect(self.receive(.join(isReply: true), from: bob, &mesh) == [], "both announced themselves")
            #expect(self.receive(.join(isRepeated: true), from: bob, &mesh) == [])
            #expect(mesh.peers == [bob])
        }
    }

    @Test func anAnnouncementNamesTheUserOfAPairAndTheParticipantsOfAGroup() {
        var pair = self.mesh()
        #expect(pair.join(self.bob) == [.send(.join(), to: .user(self.bob))])
        var group = self.mesh(isGroup: true)
        #expect(group.join(nil) == [.send(.join(), to: .participants), .send(.answered, to: .user(self.alice))])
        #expect(group.resume(nil) == group.join(nil), "without another device")
        _ = self.receive(.join(), from: self.peer(self.bob, "b"), &group)
        #expect(group.resume(nil) == [.send(.join(isRepeated: true), to: .participants)])
        #expect(group.leave() == [.send(.leave(), to: .peer(self.peer(self.bob, "b")))])
    }

    @Test func signalsOfOthersAreIgnored() {
        var mesh = self.mesh()
        let bob = self.peer(self.bob, "b")
        #expect(self.receive(.offer(sdp: "v=0"), from: bob, &mesh) == [], "an unknown device")
        _ = self.receive(.join(), from: bob, &mesh)
        #expect(self.receive(.offer(sdp: "v=0"), from: bob, &mesh) == [.deliver(bob, .offer(sdp: "v=0"))])
        #expect(self.receive(.offer(sdp: "v=0"), from: bob, to: "other", &mesh) == [], "another participation")
        #expect(self.receive(.offer(sdp: "v=0"), from: bob, to: "", &mesh) == [], "without a recipient")
        #expect(self.receive(.full, from: self.peer(self.alice, "m"), &mesh) == [], "its own")
        for phase in [DeviceCallMachine.Phase.starting, .over(.ended)] {
            #expect(self.receive(.join(), from: self.peer(self.carol, "c"), in: phase, &mesh) == [])
        }
        let state = CallSignal.Content.state(microphone: false, camera: true, screen: false)
        #expect(self.receive(state, from: bob, &mesh) == [.showState(bob, state)])
    }

    @Test func theOwnUserAnsweredOnAnotherDevice() {
        var mesh = self.mesh(isGroup: true)
        let tablet = self.peer(self.alice, "t", device: 2)
        #expect(self.receive(.answered, from: tablet, to: "", in: .incoming, &mesh) == [.answeredElsewhere])
        #expect(self.receive(.join(), from: tablet, &mesh) == [])
    }

    @Test func aDeviceThatReturnsReplacesItsFormerConnection() {
        var pair = self.mesh()
        let (former, new) = (self.peer(self.bob, "b1"), self.peer(self.bob, "b2", device: 2))
        _ = self.receive(.join(), from: former, &pair)
        #expect(
            self.receive(.join(), from: new, &pair) == [
                .send(.leave(isMoved: true), to: .peer(former)), .disconnect(former), .send(.join(isReply: true), to: .peer(new)),
                .connect(new, offers: true), .connected,
            ])
        #expect(self.receive(.leave(isMoved: true), from: new, &pair) == [.end(.elsewhere)])
        // In a group, two devices of a user take part.
        var group = self.mesh(isGroup: true)
        _ = self.receive(.join(), from: former, &group)
        _ = self.receive(.join(), from: new, &group)
        #expect(group.peers == [former, new])
        // A second `join` of a device replaces its connection, as after a reload of the page.
        #expect(self.receive(.join(), from: new, &group).first == .disconnect(new))
    }

    @Test func fourTakePart() {
        var mesh = self.mesh(isGroup: true)
        for name in ["b", "c", "d"] { _ = self.receive(.join(), from: self.peer(UserName(prepared: "user" + name), name), &mesh) }
        let fifth = self.peer(self.carol, "e")
        #expect(self.receive(.join(), from: fifth, &mesh) == [.send(.full, to: .peer(fifth))])
        let first = self.peer(UserName(prepared: "userb"), "b")
        #expect(self.receive(.full, from: first, &mesh) == [.disconnect(first)])
        _ = self.receive(.leave(), from: self.peer(UserName(prepared: "userc"), "c"), &mesh)
        let last = self.peer(UserName(prepared: "userd"), "d")
        #expect(self.receive(.full, from: last, &mesh) == [.disconnect(last), .awaitPeers])
    }

    @Test func aFifthDeviceIsInformedThatTheCallIsFull() {
        let first = self.peer(self.bob, "b")
        var mesh = self.mesh(isGroup: true)
        _ = mesh.join(nil)
        var (other, pair) = (mesh, self.mesh())
        #expect(self.receive(.full, from: first, to: "", &mesh) == [], "of an earlier participation")
        #expect(self.receive(.full, from: first, in: .outgoing, &mesh) == [])
        #expect(self.receive(.full, from: first, &mesh) == [.awaitPeers])
        #expect(self.receive(.full, from: first, to: "other", &mesh) == [], "another participation")
        // Another device has accepted this device.
        _ = self.receive(.join(isReply: true), from: self.peer(self.carol, "c"), &other)
        #expect(self.receive(.full, from: first, &other) == [])
        _ = pair.join(self.bob)
        #expect(self.receive(.full, from: first, &pair) == [])
    }

    /// A member can send any signal to a device whose session it knows.
    @Test func oneMemberMakesNoDeviceLeaveWhileOthersAreConnected() {
        let (bob, carol) = (self.peer(self.bob, "b"), self.peer(self.carol, "c"))
        var mesh = self.mesh(isGroup: true)
        #expect(self.receive(.full, from: carol, &mesh) == [], "a caller that has announced nothing")
        _ = mesh.join(nil)
        _ = self.receive(.join(isReply: true), from: bob, &mesh)
        #expect(self.receive(.full, from: carol, &mesh) == [], "a member who takes no part")
        _ = self.receive(.join(), from: carol, &mesh)
        var other = mesh
        #expect(self.receive(.full, from: carol, &mesh) == [.disconnect(carol)] && mesh.peers == [bob])
        #expect(self.receive(.leave(isMoved: true), from: carol, &other) == [.disconnect(carol)] && other.peers == [bob])
        // The last other device has left. The device waits for others, whatever members send.
        _ = self.receive(.leave(), from: bob, &mesh)
        #expect(self.receive(.full, from: carol, &mesh) == [] && self.receive(.leave(isMoved: true), from: carol, &mesh) == [])
        #expect(self.receive(.leave(isMoved: true), from: bob, &other) == [.disconnect(bob)], "all others say so")
    }

    @Test func aDeviceLeavesOrIsLost() {
        let bob = self.peer(self.bob, "b")
        var pair = self.mesh()
        _ = self.receive(.join(), from: bob, &pair)
        var other = pair
        #expect(self.receive(.leave(), from: bob, &pair) == [.disconnect(bob), .awaitEnd])
        #expect(other.lost(bob) == [.disconnect(bob), .end(.lost)])
        #expect(other.lost(bob) == [])
        var group = self.mesh(isGroup: true)
        _ = self.receive(.join(), from: bob, &group)
        other = group
        #expect(self.receive(.leave(), from: bob, &group) == [.disconnect(bob)])
        #expect(other.dismissed([self.carol]) == [] && other.dismissed([self.bob]) == [.disconnect(bob)])
    }

    @Test func anAppWithoutSessionsGetsAnOfferAfterTheAnswer() {
        var mesh = self.mesh()
        let app = self.peer(self.bob, "")
        for _ in 0..<20 { #expect(self.receive(.join(), from: app, to: "", in: .incoming, &mesh) == []) }
        let actions = mesh.join(self.bob)
        #expect(actions.prefix(2) == [.send(.join(), to: .peer(app)), .connect(app, offers: true)])
        #expect(mesh.peers == [app])
        #expect(self.receive(.answer(sdp: "v=0"), from: app, to: "", &mesh) == [.deliver(app, .answer(sdp: "v=0"))])
    }
}
