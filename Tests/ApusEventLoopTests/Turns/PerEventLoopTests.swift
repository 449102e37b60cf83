import NIOEmbedded
import Testing

@testable import ApusEventLoop

@Suite struct PerEventLoopTests {
    private final class Box {}

    @Test func anEventLoopHasOneValueAndNoOthers() {
        let (first, second) = (EmbeddedEventLoop(), EmbeddedEventLoop())
        let values = PerEventLoop { _ in Box() }
        let (ofFirst, ofSecond) = (values.value(on: first), values.value(on: second))
        #expect(ofFirst !== ofSecond)
        #expect(values.value(on: first) === ofFirst)
        #expect(values.value(on: second) === ofSecond)
    }
}
