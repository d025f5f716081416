#if os(Linux)
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Backlog", .ownThread, .timeLimit(.minutes(1)))
struct BacklogTests {
    @Test func `it is too long above 256 KiB, until half of that is left`() {
        let backlog = Backlog()
        backlog.add(256 << 10)
        #expect(!backlog.isTooLong)
        backlog.add(1)
        #expect(backlog.isTooLong)
        #expect(!backlog.remove(1) && backlog.isTooLong)
        #expect(!backlog.remove((128 << 10) - 1) && backlog.isTooLong)
        #expect(backlog.remove(1) && !backlog.isTooLong)
    }

    @Test func `only an engine that waits is told, and once`() {
        let backlog = Backlog()
        backlog.add(1 << 20)
        #expect(!backlog.remove(1 << 20))
        backlog.add(1 << 20)
        #expect(backlog.isTooLong)
        #expect(backlog.remove((1 << 20) - 1) && !backlog.remove(1))
    }
}
#endif
