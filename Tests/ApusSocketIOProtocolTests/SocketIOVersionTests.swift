import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import Testing

@Suite("Differences between versions 4 and 5 of the protocol") struct SocketIOVersionTests {
    @Test func isSentOverItsEngine() {
        #expect(SocketIOVersion(over: .v3) == .v4)
        #expect(SocketIOVersion(over: .v4) == .v5)
        #expect(SocketIOVersion.v4.joinsRootImplicitly)
        #expect(!SocketIOVersion.v5.joinsRootImplicitly)
    }

    @Test func admissionReadsTheQueryInFourOnly() {
        #expect(SocketIOVersion.v4.admission(namespace: "/adm?tok=1&x=%20", auth: nil) == ("/adm", ["tok": "1", "x": " "]))
        #expect(SocketIOVersion.v4.admission(namespace: "/adm", auth: nil) == ("/adm", [:]))
        #expect(SocketIOVersion.v5.admission(namespace: "/adm?tok=1", auth: ["a": 1]) == ("/adm?tok=1", ["a": 1]))
    }

    @Test func requestCarriesTheAuthWhereItFits() {
        let auth: SocketIOValue = ["tok": "a b", "n": 1, "list": [1]]
        #expect(
            SocketIOVersion.v4.request(namespace: "/adm", auth: auth)
                == SocketIOPacket(namespace: "/adm?tok=a%20b&n=1", content: .connect(nil)))
        #expect(SocketIOVersion.v4.request(namespace: "/", auth: auth) == SocketIOPacket(namespace: "/", content: .connect(nil)))
        #expect(SocketIOVersion.v5.request(namespace: "/adm", auth: auth) == SocketIOPacket(namespace: "/adm", content: .connect(auth)))
    }

    @Test func answersAreOfTheirVersion() {
        #expect(SocketIOVersion.v4.grant(sid: "x") == .connect(nil))
        #expect(SocketIOVersion.v5.grant(sid: "x") == .connect(["sid": "x"]))
        #expect(SocketIOVersion.v4.refusal(message: "no") == .connectError("no"))
        #expect(SocketIOVersion.v4.refusal(message: "no", data: ["code": 1]) == .connectError(["code": 1]))
        #expect(SocketIOVersion.v5.refusal(message: "no", data: ["code": 1]) == .connectError(["message": "no", "data": ["code": 1]]))
        #expect(SocketIOVersion.v5.refusal(message: "no") == .connectError(["message": "no"]))
    }

    @Test func theRootIsJoinedWithoutARequestOnce() {
        var admission = SocketIORootAdmission(version: .v4)
        #expect(admission.requested() == .wait)
        #expect(admission.receivedPacket(.connect(nil), isAwaited: true) == .pass)
        #expect(admission.requested() == .ask)  // left, and joined again

        admission = SocketIORootAdmission(version: .v4)
        #expect(admission.receivedPacket(.connect(nil), isAwaited: false) == .pass)
        #expect(admission.requested() == .enter)
        #expect(admission.requested() == .ask)

        admission = SocketIORootAdmission(version: .v5)
        #expect(admission.requested() == .ask)
        #expect(admission.receivedPacket(.connect(["sid": "x"]), isAwaited: true) == .pass)
        #expect(admission.requested() == .ask)
    }

    @Test func aRefusedRootRequiresARequestTheNextTime() {
        var admission = SocketIORootAdmission(version: .v4)
        #expect(admission.requested() == .wait)
        #expect(admission.receivedPacket(.connectError("no"), isAwaited: true) == .pass)
        #expect(admission.requested() == .ask)
    }

    @Test func aConnectAfterLeavingIsNotTheNextAnswer() {
        var admission = SocketIORootAdmission(version: .v4)
        #expect(admission.requested() == .wait)
        admission.left()
        #expect(admission.requested() == .ask)
        #expect(admission.receivedPacket(.connect(nil), isAwaited: true) == .ignore)
        #expect(admission.receivedPacket(.connect(nil), isAwaited: true) == .pass)
    }

    @Test func aDisconnectedRootDoesNotReuseAnEarlierConnect() {
        var admission = SocketIORootAdmission(version: .v4)
        _ = admission.receivedPacket(.connect(nil), isAwaited: false)
        #expect(admission.receivedPacket(.disconnect, isAwaited: false) == .pass)
        #expect(admission.requested() == .ask)
        admission = SocketIORootAdmission(version: .v4)
        _ = admission.receivedPacket(.connect(nil), isAwaited: false)
        admission.left()
        #expect(admission.requested() == .ask)
    }
}
