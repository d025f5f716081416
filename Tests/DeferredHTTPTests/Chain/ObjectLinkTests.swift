import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ObjectLinkTests {
    private final class Marking: HTTPLink {
        func load(_ task: HTTPTask, next: any HTTPLoader) {
            var request = task.request
            request.headers["X-Mark"] = "1"
            task.pass(request, to: next)
        }
    }

    private final class Passing: HTTPLink {
        func load(_ task: HTTPTask, next: any HTTPLoader) { task.pass(to: next) }
    }

    @Test func `an object is a link of two chains`() {
        let (link, stubs) = (Marking(), [StubLoader(.response(201)), StubLoader(.response(202))])
        let chains = stubs.map { link --> Retry() --> $0 }
        #expect(chains.map { $0.load(.example).statusNow } == [201, 202])
        #expect(stubs.allSatisfy { $0.requests.map { $0.headers["X-Mark"] } == ["1"] })
        #expect(chains[0].reset().isFilled && stubs.map(\.resetCount) == [1, 0])
    }

    @Test func `an object at the end of a chain is not changed by the two that go on from it`() {
        let (link, stubs) = (Marking(), [StubLoader(.response(201)), StubLoader(.response(202))])
        let chain = Retry() --> link
        let chains = stubs.map { chain --> $0 }
        #expect(chains.map { $0.load(.example).statusNow } == [201, 202])
    }

    @Test func `in any place, and more than one of them`() {
        let (stub, other) = (StubLoader(.response(201)), StubLoader(.response(202)))
        let chain = Retry() --> Passing() --> Passing() --> Marking() --> stub
        #expect(chain.load(.example).statusNow == 201)
        #expect((chain --> other).load(.example).statusNow == 202)
        #expect((Retry() --> Passing()).load(.example).codeNow == .cannotConnect)
        #expect((Passing() --> Throttle(maximum: 1)).load(.example).codeNow == .cannotConnect)
    }

    @Test func `joined where its type isn't known`() {
        func join<Link: HTTPLink>(_ link: Link, _ next: any HTTPLoader) -> any HTTPLoader { link --> next }
        let (stub, link) = (StubLoader { _ in .response() }, Marking())
        let chains = [join(link, stub), (link as any HTTPLink) --> stub, Retry() --> join(link, Retry() --> stub)]
        for chain in chains { #expect(chain.load(.example).statusNow == .ok) }
        #expect(stub.requests.map { $0.headers["X-Mark"] } == ["1", "1", "1"])
    }
}
