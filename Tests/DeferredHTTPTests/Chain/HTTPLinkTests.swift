import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPLinkTests {
    private func noting(_ name: String, in journal: Journal<String>) -> ModifyRequest {
        ModifyRequest { _ in journal.add(name) }
    }

    @Test func `requests pass from left to right`() {
        let journal = Journal<String>()
        let chain =
            noting("a", in: journal) --> noting("b", in: journal) --> noting("c", in: journal)
            --> StubLoader(.response())
        #expect(chain.load(.example).statusNow == .ok)
        #expect(journal.entries == ["a", "b", "c"])
    }

    @Test func `a loader joined to a complete chain replaces its terminal loader`() {
        let (journal, one, two) = (Journal<String>(), StubLoader(.response(201)), StubLoader(.response(202)))
        let front = noting("a", in: journal) --> noting("b", in: journal)
        let whole = front --> noting("c", in: journal) --> one
        #expect(whole.load(.example).statusNow == 201)
        #expect((whole --> two).load(.example).statusNow == 202)
        #expect(journal.entries == ["a", "b", "c", "a", "b", "c"])
        #expect(whole.load(.example).statusNow == 201, "a chain is a value")
    }

    @Test func `a chain without a terminal loader cannot connect`() throws {
        let task = (Retry() --> Throttle(maximum: 1)).load(.example)
        guard case .failure(let error) = try #require(task.peek()) else { return }
        #expect(error.code == .cannotConnect)
        #expect("\(error)".contains("end it with one"))
    }

    @Test func `a chain without a terminal loader is neither tried again nor replaced by another`() throws {
        let (journal, mirror) = (Journal<String>(), StubLoader(.response()))
        let retry = Retry(.backoff(base: .zero))
        let task = (retry --> Fallback(to: mirror) --> noting("a", in: journal)).load(.example)
        #expect(task.codeNow == .cannotConnect && journal.entries == ["a"] && mirror.requests.isEmpty)
    }

    @Test func `a reset comes to the last loader, or is done at once`() {
        let stub = StubLoader(.response())
        let chain =
            ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: 1) --> Deduplicate() --> Validate()
            --> Log { _ in }
            --> BearerAuthentication { _ in .never } --> stub
        #expect(chain.reset().isFilled && stub.resetCount == 1)
        #expect((ResetGuard() --> Autocancel()).reset().isFilled)
    }

    @Test func `copies of a loader share its state`() {
        let (throttle, stub) = (Throttle(maximum: 1), StubLoader())
        let (one, two) = (throttle --> stub, throttle --> stub)
        one.load(.example)
        two.load(.example)
        #expect(stub.requests.count == 1 && throttle.waitingCount == 1)
        stub.cancelAll()
    }

    @Test(arguments: [true, false])
    func `a chain binds tighter than a condition, and looser than a default`(isTest: Bool) {
        let (stub, other): (StubLoader, StubLoader?) = (StubLoader(.response(201)), StubLoader(.response(202)))
        let chain = isTest ? Retry() --> stub : Retry() --> Validate() --> Log { _ in } --> StubLoader(.response(203))
        #expect(chain.load(.example).statusNow == (isTest ? 201 : 203))
        #expect((Retry() --> other ?? stub).load(.example).statusNow == 202)
        let erased: any HTTPLoader = isTest ? Retry() --> stub : Throttle(maximum: 1) --> stub
        #expect(erased.load(.example).statusNow == 201)
    }
}
