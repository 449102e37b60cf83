import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import NIOConcurrencyHelpers

@testable import ApusChatClient

/// A connection to a ``FakeServer``.
final class FakeTransport: ChatTransport, @unchecked Sendable {  // `user` is guarded by the server's lock
    let incoming: AsyncStream<ChatTransportEvent>
    private let events: AsyncStream<ChatTransportEvent>.Continuation
    private let server: FakeServer
    private let access: @Sendable () async throws -> String
    private let isClosed = NIOLockedValueBox(false)
    var user: UserKey?

    init(server: FakeServer, access: @escaping @Sendable () async throws -> String) {
        self.server = server
        self.access = access
        (self.incoming, self.events) = AsyncStream.makeStream(of: ChatTransportEvent.self)
    }

    func connect() {
        guard !self.isClosed.withLockedValue({ $0 }) else { return }
        Task {
            do {
                let access = try await self.access()
                switch self.server.accept(self, access: access) {
                case nil: self.events.yield(.connected)
                case let error? where error.code == .unauthorized: self.events.yield(.refused(error))
                case _?: self.events.yield(.disconnected(reconnects: false))
                }
            } catch let error as ChatClientError where error.code == .signedOut {
                self.events.yield(.refused(error.asServerError))
            } catch {
                self.events.yield(.disconnected(reconnects: false))
            }
        }
    }

    func disconnect() { self.server.remove(self) }

    /// Reports the loss of the connection.
    ///
    /// - Parameter reconnects: Whether the report says that the transport reconnects by itself.
    func lost(reconnects: Bool = false) { self.events.yield(.disconnected(reconnects: reconnects)) }

    func push(_ name: String, _ payload: JSONValue) { self.events.yield(.push(name: name, payload: payload)) }

    func send(_ verb: String, _ payload: JSONValue, number: Int) {
        let answer: Result<JSONValue, ChatClientError>
        do throws(ChatClientError) { answer = .success(try self.server.answer(verb, payload, on: self)) } catch { answer = .failure(error) }
        guard let frames = self.server.frames(around: verb) else { return }
        for (name, payload) in frames.before { self.push(name, payload) }
        self.events.yield(.answer(number, answer))
        for (name, payload) in frames.after { self.push(name, payload) }
    }

    func close() async {
        self.isClosed.withLockedValue { $0 = true }
        self.server.remove(self)
        self.events.finish()
    }
}

/// The HTTP routes of a ``FakeServer``.
final class FakeHTTP: ChatHTTPTransport {
    private let server: FakeServer
    init(server: FakeServer) { self.server = server }

    func post(_ path: String, _ payload: JSONValue, access: String?) async throws(ChatClientError) -> JSONValue {
        try self.server.post(path, payload)
    }
    func createUpload(_ upload: UploadDescription, access: String) async throws(ChatClientError) -> String {
        try self.server.createUpload(upload)
    }
    func uploadOffset(_ location: String, access: String) async throws(ChatClientError) -> Int64? {
        try self.server.offset(of: location)
    }
    func append(_ bytes: [UInt8], at offset: Int64, to location: String, access: String) async throws(ChatClientError) -> UploadProgress {
        try await self.server.append(Int64(bytes.count), at: offset, to: location, access: access)
    }
    func removeUpload(_ location: String, access: String) async throws(ChatClientError) { self.server.removeUpload(location) }
    func download(_ blob: BlobID, size: Int?, owner: BlobOwner?, access: String) async throws(ChatClientError) -> [UInt8] { [1, 2, 3] }
    func save(_ path: String, to file: String, access: String) async throws(ChatClientError) {
        do { try Data([4, 5, 6]).write(to: URL(fileURLWithPath: file)) } catch {
            throw ChatClientError(.invalidUse, message: "cannot write \(file)")
        }
    }
    func shutdown() {}
}
