import ApusChatProtocol
import ApusChatStorage
import ApusSeededRandom
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Random transfers of an upload, compared with a model of its bytes.
@Suite("Model of an upload")
struct UploadModelTests {
    /// The state that the server must have.
    private struct Model {
        let content: [UInt8]
        /// The bytes on disk.
        var durable = 0
        /// The bytes that the current transfer has written.
        var written = 0
        /// The number of the current transfer; nil if none is open.
        var transfer: Int?
        /// The numbers of transfers that have ended.
        var former: [Int] = []

        mutating func sync() { self.durable = self.written }
    }

    private static func content(_ count: Int, _ generator: inout SplitMix64) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Begins, continues, repeats, ends and interrupts transfers, and restarts the server.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func noByteIsLostOrInvented(seed: UInt64) async throws {
        var generator = SplitMix64(state: seed)
        let server = try TestServer { $0.hasLimits = false }
        let session = try await server.test.accounts.session(access: server.test.register("alice").access)
        var model = Model(content: Self.content(Int.random(in: 1...400, using: &generator), &generator))
        let syncBytes = Int64.random(in: 1...200, using: &generator)
        var uploads = server.uploads
        var part = try await uploads.create(length: Int64(model.content.count), for: session, from: server.test.client)
        var step = 0
        while step < 120 || model.durable < model.content.count {
            step += 1
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<15:
                let (transfer, offset) = try part.begin()
                model.sync()
                if let ended = model.transfer { model.former.append(ended) }
                model.transfer = transfer
                #expect(Int(offset) == model.durable)
            case 15..<75:
                guard let transfer = model.transfer else { continue }
                let count = Int.random(in: 0...60, using: &generator)
                let rest = model.content.count - model.written
                let bytes = count <= rest ? Array(model.content[model.written..<model.written + count]) : Array(repeating: 0, count: count)
                let result = try part.append(ByteBuffer(bytes: bytes), transfer, syncBytes: syncBytes)
                #expect(result == (count <= rest ? .done : .tooLong))
                guard count <= rest else { continue }
                model.written += count
                if model.written - model.durable >= syncBytes { model.sync() }
            case 75..<82:
                // An old transfer whose connection still delivers bytes.
                guard let former = model.former.randomElement(using: &generator) else { continue }
                #expect(try part.append(ByteBuffer(string: "old"), former, syncBytes: syncBytes) == .ended)
            case 82..<92:
                guard let transfer = model.transfer else { continue }
                model.sync()
                #expect(try part.end(transfer) == Int64(model.durable))
                model.transfer = nil
                model.former.append(transfer)
            default:
                // Bytes that were not synced are lost with the process.
                uploads = try Uploads(folder: server.test.folder, accounts: server.test.accounts, files: server.files)
                part = try uploads.part(part.id, of: session)
                (model.written, model.transfer, model.former) = (model.durable, nil, [])
            }
            #expect(Int(part.offset) == model.durable)
        }
        #expect(DurableFile.bytes(of: part.path, upTo: 1_000)?.prefix(model.durable) == model.content[...])
        let blob = try await uploads.finish(part)
        #expect(blob.size == Int64(model.content.count))
        #expect(try await server.files.prefix(of: blob.id, upTo: 1_000) == ByteBuffer(bytes: model.content))
        // A repeated completion has the same result.
        #expect(try await uploads.finish(part) == blob)
    }

    /// Clients that know nothing of each other continue one upload by its offset.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func anUploadContinuesByItsOffset(seed: UInt64) async throws {
        let server = try TestServer { $0.hasLimits = false }
        try await server.run { (client: TestRequests) async throws in
            var generator = SplitMix64(state: seed)
            let token = try await client.token("alice")
            let content = Self.content(5_000, &generator)
            let path = try await client.beginUpload(of: content.count, token: token)
            var blob: String?
            while blob == nil {
                let head = try await client.send(.head, path, token: token, headers: [.tusResumable: "1.0.0"])
                let offset = try #require(head.headers[.uploadOffset].flatMap { Int($0) })
                // Some requests have an offset that the server does not have.
                let wrong = Int.random(in: 0...5_000, using: &generator)
                let count = Int.random(in: 0...900, using: &generator)
                if wrong != offset, wrong + count <= content.count {
                    let refused = try await client.patch(path, at: wrong, Array(repeating: 1, count: count), token: token)
                    #expect(refused.status == .conflict)
                    #expect(try refused.error().message.contains("Continue at byte \(offset)"))
                }
                let end = min(offset + count, content.count)
                blob = try await client.patch(path, at: offset, Array(content[offset..<end]), token: token).headers[.chatBlob]
            }
            let stored = try await client.send(.get, "/api/blobs/" + (blob ?? ""), token: token)
            #expect(stored.body == ByteBuffer(bytes: content))
        }
    }
}
