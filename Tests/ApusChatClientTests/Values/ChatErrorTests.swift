import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient

/// The errors and the updates of the client, and the answers from which they are read.
@Suite("Errors of the client")
struct ChatErrorTests {
    private struct Cause: Error, CustomStringConvertible {
        let description: String
    }

    @Test func eachCodeHasItsName() {
        let codes: [ChatClientError.Code] = [
            .refused, .signedOut, .wrongCredentials, .notConnected, .timeout, .unreachable, .badAnswer, .badAddress, .invalidUse, .notFound,
            .store, .wrongStore, .closed, .cancelled, .invalidConfiguration,
        ]
        #expect(Set(codes.map(\.description)).count == codes.count && Set(codes).count == codes.count)
        #expect(codes.first?.description == "refused" && codes.last?.description == "invalidConfiguration")
    }

    @Test func anErrorHasItsCauseOnOneLineAndComparesWithoutIt() {
        var error = ChatClientError(.store, message: "M", cause: Cause(description: "disk full"))
        #expect("\(error)".contains("store") && "\(error)".contains("M") && "\(error)".contains("disk full"))
        #expect(!"\(error)".contains("\n"))
        #expect(error == ChatClientError(.store, message: "M") && error.hashValue == ChatClientError(.store, message: "M").hashValue)
        error.cause = nil
        #expect(!"\(error)".contains("disk full"))
        #expect(error != ChatClientError(.store, message: "N") && error != ChatClientError(.closed, message: "M"))
        #expect(error != ChatClientError(.store, message: "M", serverError: ChatError(.storage, message: "M")))
    }

    /// An error of the server is passed as it is, whatever its code.
    @Test(arguments: ["bad_request", "too_late", "resync", "epoch", "internal", "something.new"])
    func aRefusalKeepsTheErrorOfTheServer(code: String) throws {
        let refusal = try ChatError(json: ["error": ["code": .string(code), "message": "M", "field": "f", "retry_after": 5]])
        let error = ChatClientError(server: refusal)
        #expect(error.code == .refused && error.serverError == refusal && error.asServerError == refusal)
        #expect(refusal.field == "f" && refusal.retryAfter == 5)
    }

    /// Work that fails with one of these errors is repeated; other work is not.
    @Test(arguments: [
        (ChatClientError.Code.notConnected, true), (.timeout, true), (.unreachable, true), (.badAnswer, true), (.badAddress, true),
        (.store, true), (.closed, true), (.cancelled, true), (.invalidConfiguration, true), (.wrongStore, true), (.refused, true),
        (.invalidUse, false), (.notFound, false), (.signedOut, false), (.wrongCredentials, false),
    ])
    func anErrorIsTemporaryUnlessItIsOfTheRequest(code: ChatClientError.Code, isTemporary: Bool) {
        #expect(ChatClientError(code, message: "M").asServerError.code.isTemporary == isTemporary)
    }

    // MARK: Answers

    @Test func anAnswerIsReadOrIsTheErrorOfTheServer() throws {
        let mark: JSONValue = ["conv": .string(Value.room.rawValue), "read": 1, "unread": 2, "mentions": 3, "n": 4]
        #expect(try ChatAnswer.read(mark, as: MarkAnswer.self, verb: "mark").unread == 2)
        let refusal = ChatError(.limit, message: "full", field: "x")
        #expect(throws: ChatClientError(server: refusal)) { try ChatAnswer.read(refusal.json, as: MarkAnswer.self, verb: "mark") }
        // An answer with both is a refusal.
        var both = try #require(mark.objectValue)
        both["error"] = refusal.json["error"]
        #expect(throws: ChatClientError(server: refusal)) { try ChatAnswer.read(.object(both), as: MarkAnswer.self, verb: "mark") }
    }

    @Test(arguments: [.null, [], 7, "x", true, [:], ["error": 1], ["conv": "7", "read": "1"]] as [JSONValue])
    func anotherAnswerNamesTheVerb(answer: JSONValue) {
        do throws(ChatClientError) {
            _ = try ChatAnswer.read(answer, as: MarkAnswer.self, verb: "mark")
            Issue.record("\(answer) was read")
        } catch {
            #expect(error.code == .badAnswer && error.message.hasPrefix("the answer to `mark` is not valid: "), "\(error)")
            #expect(error.serverError == nil)
        }
    }

    // MARK: Updates

    @Test func anUpdateOfOneConversationNamesIt() {
        let message = ChatMessage(event: Value.text(1))
        let updates: [(ChatUpdate, ConversationID?)] = [
            (.messages(Value.room, [message]), Value.room), (.gap(Value.room, 1...2), Value.room), (.outgoing(message), Value.room),
            (.discarded(Value.other, Value.id("a")), Value.other), (.receipts(Value.other), Value.other),
            (.typing(Value.other, Value.bob, isTyping: true), Value.other), (.connection(.online), nil), (.heads([Value.head(1)]), nil),
            (.gone([Value.room]), nil), (.users([]), nil), (.contact(.memberJoin, ContactBody(user: Value.bob)), nil), (.reset, nil),
            (.device(.memberJoin, DeviceBody(device: DeviceID(number: 1), name: "n", platform: "p")), nil), (.missed, nil),
            (.storeFailed(.closed), nil),
        ]
        for (update, conversation) in updates { #expect(update.conversation == conversation, "\(update)") }
    }

    /// The limits of the configuration: the first value that is accepted, and the last that is not.
    @Test func theConfigurationIsCheckedAtItsLimits() throws {
        func error(_ change: (inout ChatClientConfiguration) -> Void) -> String? {
            var configuration = ChatClientConfiguration()
            change(&configuration)
            do throws(ChatClientError) { try configuration.validate() } catch {
                #expect(error.code == .invalidConfiguration)
                return error.message
            }
            return nil
        }
        let tiny = Duration(secondsComponent: 0, attosecondsComponent: 1)
        for name in ["requestTimeout", "transferTimeout"] {
            let path = name == "requestTimeout" ? \ChatClientConfiguration.requestTimeout : \.transferTimeout
            #expect(error { $0[keyPath: path] = tiny } == nil)
            #expect(error { $0[keyPath: path] = .zero }?.hasPrefix("`\(name)` must be greater than 0") == true)
        }
        for name in ["changePatience", "refusalDelay"] {
            let path = name == "changePatience" ? \ChatClientConfiguration.changePatience : \.refusalDelay
            #expect(error { $0[keyPath: path] = .zero } == nil)
            #expect(error { $0[keyPath: path] = .zero - tiny }?.hasPrefix("`\(name)` must not be negative") == true)
        }
        for name in ["maximumPulls", "uploadPart", "pushBuffer"] {
            let path =
                name == "maximumPulls" ? \ChatClientConfiguration.maximumPulls : name == "uploadPart" ? \.uploadPart : \.pushBuffer
            #expect(error { $0[keyPath: path] = 1 } == nil)
            for wrong in [0, -1, Int.min] {
                #expect(error { $0[keyPath: path] = wrong } == "`\(name)` must be greater than 0, not \(wrong)")
            }
        }
    }
}
