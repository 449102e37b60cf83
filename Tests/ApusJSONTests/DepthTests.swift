import ApusJSON
import Dispatch
import Foundation
import Testing

/// Hazard 11: values nested as deeply as the limits permit, on threads with little stack.
@Suite struct DepthTests {
    private static let depth = JSONReader.Limits.highestDepth
    private static let limits = JSONReader.Limits(maximumDepth: Self.depth)

    private static func text(_ opening: String, _ closing: String) -> [UInt8] {
        Array((String(repeating: opening, count: Self.depth) + "0" + String(repeating: closing, count: Self.depth)).utf8)
    }

    /// Runs `body` on a thread whose stack has about this many bytes.
    private func onThread(stackBytes: Int, _ body: @escaping @Sendable () -> Void) {
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            body()
            ended.signal()
        }
        thread.stackSize = stackBytes
        thread.start()
        ended.wait()
    }

    /// Reading, checking and writing take no stack for a level: here 256 bytes for each would be too many, and a recursive parser
    /// takes several times that in a build without optimization.
    @Test(arguments: [("[", "]"), ("{\"a\":", "}"), ("[1,{\"a\":", "}]")])
    func takesNoStackForALevel(opening: String, closing: String) throws {
        final class Kept: @unchecked Sendable { var value: JSONValue? }  // one thread after the other
        let kept = Kept()
        @Sendable func copy(_ text: [UInt8]) -> [UInt8]? {
            let isChecked = text.withUnsafeBytes { (try? JSONArrayOutline.find(in: $0, limits: Self.limits)) != nil }
            guard isChecked, let value = try? JSONReader.read(text, limits: Self.limits) else { return nil }
            kept.value = value  // released by the test's thread: Swift does that by recursion
            return try? JSONWriter.bytes(of: value)
        }
        let levels = Self.depth / closing.count
        let text = Array((String(repeating: opening, count: levels) + "0" + String(repeating: closing, count: levels)).utf8)
        #expect(copy(Array("[{}]".utf8)) != nil)  // types are made at their first use, which takes stack
        nonisolated(unsafe) var copied: [UInt8]?
        self.onThread(stackBytes: 128 << 10) { copied = copy(text) }
        #expect(copied == text)
        kept.value = nil
    }

    /// Swift itself compares, hashes and releases by recursion. The smallest thread, a secondary one on Apple's platforms, has 512 KiB.
    @Test func fitsTheSmallestThread() throws {
        let text = Self.text("[", "]")
        nonisolated(unsafe) var isEqual = false
        self.onThread(stackBytes: 512 << 10) {
            var value = try? JSONReader.read(text, limits: Self.limits)
            let other = try? JSONReader.read(text, limits: Self.limits)
            isEqual = value == other && value?.hashValue == other?.hashValue && value?.containsBinary == false
            isEqual = isEqual && value?.replacing { $0 == 0 ? 1 : nil } != other
            value = nil
        }
        #expect(isEqual)
    }
}
