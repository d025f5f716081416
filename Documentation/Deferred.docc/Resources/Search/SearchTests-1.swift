import Deferred
import DeferredTesting
import Synchronization
import Testing

@testable import SearchField

@MainActor
@Test func `only the last text is searched for`() async throws {
    let clock = ManualClock()
    let asked = Mutex<[String]>([])
    let shown = Deferred<[String]>()
    let search = Search(clock: clock) { text in
        asked.withLock { $0.append(text) }
        return .success(["\(text)ly"])
    } show: { items in
        shown.fill(with: items)
    }

    search.textChanged("swi")
    search.textChanged("swift")
    while !shown.isFilled {
        clock.advance(by: .milliseconds(300))
        await Task.yield()
    }

    #expect(shown.peek() == ["swiftly"])
    #expect(asked.withLock { $0 } == ["swift"])
}
