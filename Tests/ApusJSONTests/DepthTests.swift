import ApusJSON
import Dispatch
import Foundation
import Testing

/// docs/hazards.md, 11: values with the maximum nesting, on threads with a small stack.
@Suite struct DepthTests {
    private static let depth = JSONReader.Limits.highestDepth
    private static let limits = JSONReader.Limits(maximumDepth: Self.depth)

    private static func text(_ opening: String, _ closing: String) -> [UInt8] {
        Array((String(repeating: opening, count: Self.depth) + "0" + String(repeating: closing, count: Self.depth)).utf8)
    }

    /// Runs `body` on a thread with approximately this stack size.
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

    /// Reading, validating and writing use no stack per level. With this stack even 256 bytes per
    /// level would overflow, and a recursive parser needs several times that in a debug build.
    @Test(arguments: [("[", "]"), ("{\"a\":", "}"), ("[1,{\"a\":", "}]")])
    func nestingUsesNoStack(opening: String, closing: String) throws {
        final class Kept: @unchecked Sendable { var value: JSONValue? }  // accessed by one thread at a time
        let kept = Kept()
        @Sendable func copy(_ text: [UInt8]) -> [UInt8]? {
            let isChecked = text.withUnsafeBytes { (try? JSONArrayOutline.find(in: $0, limits: Self.limits)) != nil }
            guard isChecked, let value = try? JSONReader.read(text, limits: Self.limits) else { return nil }
            kept.value = value  // released on the test's thread, because Swift releases it by recursion
            return try? JSONWriter.bytes(of: value)
        }
        let levels = Self.depth / closing.count
        let text = Array((String(repeating: opening, count: levels) + "0" + String(repeating: closing, count: levels)).utf8)
        #expect(copy(Array("[{}]".utf8)) != nil)  // the first use of a type instantiates it, which needs stack
        nonisolated(unsafe) var copied: [UInt8]?
        self.onThread(stackBytes: 128 << 10) { copied = copy(text) }
        #expect(copied == text)
        kept.value = nil
    }

    /// Swift compares, hashes and releases values by recursion. The smallest thread stack, of
    /// secondary threads on Apple platforms, has 512 KiB.
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
