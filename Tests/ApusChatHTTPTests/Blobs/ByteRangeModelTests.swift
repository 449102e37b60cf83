import ApusChatProtocol
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The field `Range` of any form, compared with the definition of RFC 9110 section 14.1.2.
@Suite("Ranges of any form")
struct ByteRangeModelTests {
    /// Returns the range of a first and a last position, either of which can be absent, in a file.
    private func expected(_ first: Int64?, _ last: Int64?, size: Int64) -> ByteRange {
        switch (first, last) {
        case (nil, nil): return .whole
        case (nil, let count?):
            // A suffix longer than the file is the whole file.
            let bytes = (0..<size).suffix(Int(clamping: count))
            return bytes.isEmpty ? .unsatisfiable : .part(bytes.lowerBound...bytes.upperBound - 1)
        case (let first?, let last):
            let bytes = (0..<size).filter { $0 >= first && $0 <= last ?? .max }
            guard let low = bytes.first, let high = bytes.last else { return .unsatisfiable }
            return .part(low...high)
        }
    }

    @Test func everyPairOfPositionsSelectsItsBytes() {
        let positions: [Int64?] = [nil] + (0...13).map { Optional($0) } + [.max]
        for size in Int64(1)...12 {
            for first in positions {
                for last in positions {
                    let field = "bytes=\(first.map(String.init) ?? "")-\(last.map(String.init) ?? "")"
                    #expect(ByteRange(field, size: size) == self.expected(first, last, size: size), "\(field) of \(size)")
                    #expect(ByteRange(field.uppercased(), size: size) == self.expected(first, last, size: size), "units have no case")
                }
            }
        }
    }

    /// Positions beyond 64 bits are beyond every file.
    @Test(arguments: [Int64(1), 10, 1 << 40])
    func positionsMayExceedTheirType(size: Int64) {
        let huge = "99999999999999999999999999"
        #expect(ByteRange("bytes=\(huge)-", size: size) == .unsatisfiable)
        #expect(ByteRange("bytes=\(huge)-\(huge)", size: size) == .unsatisfiable)
        #expect(ByteRange("bytes=0-\(huge)", size: size) == .part(0...size - 1))
        #expect(ByteRange("bytes=-\(huge)", size: size) == .part(0...size - 1))
        #expect(ByteRange("bytes=\(size - 1)-", size: size) == .part(size - 1...size - 1))
        #expect(ByteRange("bytes=\(size)-", size: size) == .unsatisfiable)
    }

    /// RFC 9110 section 14.2: a field with another syntax or unit is ignored.
    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=1", "bytes=1-2-3", "bytes=--1", "bytes=1--2", "bytes=+1-2", "bytes=1-+2", "bytes=a-b",
        "bytes=0x1-2", "bytes=1.0-2", "bytes=１-２", "bytes 1-2", "items=1-2", "byte=1-2", "xbytes=1-2", "bytes=1-2,4-5", "bytes=1-2,",
        "bytes=1 2-3", "bytes=1-2 3", "bytes=\u{0}1-2",
    ])
    func anotherFieldIsIgnored(field: String) { #expect(ByteRange(field, size: 10) == .whole, "\(field)") }

    @Test(arguments: ["bytes= 2-4", "bytes=2 -4", "bytes=2- 4", "bytes=2-4 ", "bytes= 2 - 4 "])
    func spacesAroundAPositionAreAccepted(field: String) { #expect(ByteRange(field, size: 10) == .part(2...4)) }

    /// The served bytes of each range of a small file, with GET and HEAD.
    @Test func theServedBytesMatchTheRange() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let bytes = Array("abcdefg".utf8)
            let path = "/api/blobs/" + (try await client.upload(bytes, token: token).headers[.chatBlob] ?? "")
            for first in [nil, 0, 1, 6, 7] as [Int64?] {
                for last in [nil, 0, 3, 6, 9] as [Int64?] {
                    let field = "bytes=\(first.map(String.init) ?? "")-\(last.map(String.init) ?? "")"
                    let response = try await client.send(.get, path, token: token, headers: [.range: field])
                    switch self.expected(first, last, size: 7) {
                    case .whole:
                        #expect(response.status == .ok && Array(response.body.readableBytesView) == bytes, "\(field)")
                        #expect(response.headers[.contentRange] == nil && response.headers[.acceptRanges] == "bytes", "\(field)")
                    case .part(let range):
                        let part = bytes[Int(range.lowerBound)...Int(range.upperBound)]
                        #expect(response.status == .partialContent && response.body.readableBytesView.elementsEqual(part), "\(field)")
                        #expect(response.headers[.contentRange] == "bytes \(range.lowerBound)-\(range.upperBound)/7", "\(field)")
                        #expect(response.headers[.contentLength] == String(part.count), "\(field)")
                    case .unsatisfiable:
                        #expect(response.status == .rangeNotSatisfiable, "\(field)")
                        #expect(response.headers[.contentRange] == "bytes */7", "\(field)")
                    }
                    // A changed file is sent whole (RFC 9110 section 13.1.5).
                    let stale = try await client.send(.get, path, token: token, headers: [.range: field, .ifRange: "\"x\""])
                    #expect(stale.status == .ok && Array(stale.body.readableBytesView) == bytes, "\(field)")
                    let tag = try #require(stale.headers[.eTag])
                    let fresh = try await client.send(.get, path, token: token, headers: [.range: field, .ifRange: tag])
                    #expect(fresh.status == response.status && fresh.body == response.body, "\(field)")
                }
            }
        }
    }
}
