#if os(Linux)
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Backlog", .ownThread, .timeLimit(.minutes(1)))
struct BacklogTests {
    @Test func `it is too long above 256 KiB, until half of that is left`() {
        var backlog = Backlog()
        backlog.add(256 << 10)
        #expect(backlog.isTooLong() == false)
        backlog.add(1)
        #expect(backlog.isTooLong() == true)
        for count in [1, (128 << 10) - 1] {
            #expect(backlog.remove(count) == false)
            #expect(backlog.isTooLong() == true)
        }
        #expect(backlog.remove(1) == true)
        #expect(backlog.isTooLong() == false)
    }

    @Test func `only an engine that waits is told, and once`() {
        var backlog = Backlog()
        backlog.add(1 << 20)
        #expect(backlog.remove(1 << 20) == false)
        backlog.add(1 << 20)
        #expect(backlog.isTooLong() == true)
        #expect(backlog.remove((1 << 20) - 1) == true)
        #expect(backlog.remove(1) == false)
    }
}
#endif
