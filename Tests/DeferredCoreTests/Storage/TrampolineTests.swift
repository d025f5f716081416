import DeferredCore
import TestSupport
import Testing

/// Tests that nothing handlers do overflows the stack, and that deferring work to prevent this is not observable.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TrampolineTests {
    /// A depth far beyond the stack's capacity, even at only a hundred bytes for each level.
    static let depth = isSanitized ? 10_000 : 20_000

    @Test func `handlers that fill futures nest to any depth`() async {
        await onThread(stackSize: 512 << 10) {
            let futures = (0...Self.depth).map { _ in Deferred<Int>() }
            for index in 0..<Self.depth {
                futures[index].upon(.immediate) { futures[index + 1].fill(with: $0 + 1) }
            }
            futures[0].fill(with: 0)
            #expect(futures[Self.depth].peek() == Self.depth)
        }
    }

    @Test func `handlers that fill futures and read others nest to any depth`() async {
        await onThread(stackSize: 512 << 10) {
            let futures = (0...Self.depth).map { _ in Deferred<Int>() }
            let other = Deferred<Int>()
            for index in 0..<Self.depth {
                futures[index].upon(.immediate) {
                    futures[index + 1].fill(with: $0 + 1)
                    if other.isFilled || other.peek() != nil { Issue.record("filled") }
                }
            }
            futures[0].fill(with: 0)
            #expect(futures[Self.depth].peek() == Self.depth)
        }
    }

    @Test func `executors that run closures inline nest to any depth`() async {
        await onThread(stackSize: 512 << 10) {
            let head = Deferred<Int>()
            var tail = head.future
            for _ in 0..<Self.depth { tail = tail.map(on: Inline()) { $0 + 1 } }
            head.fill(with: 0)
            #expect(tail.peek() == Self.depth)
        }
    }

    @Test(arguments: 0..<4)
    func `nested operators of many futures are filled and dropped`(kind: Int) async {
        await onThread(stackSize: 512 << 10) {
            let lifetimes = Lifetimes()
            func nest(_ head: Deferred<Int>) -> Future<Int> {
                var tail = head.future
                for _ in 0..<Self.depth {
                    tail =
                        switch kind {
                        case 0: zip(tail, Future(value: 1)).map { $0 + $1 }
                        case 1: [tail, Future(value: 1)].allFilled().map { $0[0] + $0[1] }
                        case 2: [tail, Future.never].firstFilled().map { $0 + 1 }
                        default: [tail].firstFilled().flatMap { Future(value: $0 + 1) }
                        }
                }
                tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                return tail
            }
            let head = Deferred<Int>()
            let tail = nest(head)
            head.fill(with: 0)
            #expect(tail.peek() == Self.depth)
            _ = nest(Deferred())
            #expect(lifetimes.count == 0)
        }
    }

    @Test func `values that contain futures are freed to any depth`() async {
        await onThread(stackSize: 512 << 10) {
            let lifetimes = Lifetimes()
            var (small, large) = (Future<SmallNode>.never, Future<LargeNode>.never)
            let deferred = Deferred<SmallNode>()
            for _ in 0..<50_000 {
                small = Future(value: SmallNode(token: lifetimes.make(), next: small))
                large = Future(value: LargeNode(token: lifetimes.make(), next: large.map { $0 }))
            }
            deferred.fill(with: SmallNode(token: lifetimes.make(), next: small))
            (small, large) = (.never, .never)
            #expect(lifetimes.count == 50_001)
            _ = consume deferred
            #expect(lifetimes.count == 0)
        }
    }

    @Test func `deeper handlers run before the outermost fill returns, in their order`() {
        let log = Log<Int>()
        let futures = (0..<200).map { _ in Deferred<Int>() }
        for index in 0..<199 {
            futures[index].upon(.immediate) { _ in
                log.add(index)
                futures[index + 1].fill(with: 0)
            }
        }
        futures[0].fill(with: 0)
        #expect(log.entries == Array(0..<199))
    }

    @Test(arguments: [0, 1, 31, 32, 33, 64])
    func `a handler is not overtaken by one that is registered later`(depth: Int) {
        let (log, last) = (Log<Int>(), Deferred<Int>())
        let futures = (0...depth).map { _ in Deferred<Int>() }
        for index in 0..<depth { futures[index].upon(.immediate) { futures[index + 1].fill(with: $0) } }
        futures[depth].upon(.immediate) { _ in
            last.upon(.immediate) { _ in log.add(1) }
            last.map { $0 }.upon(.immediate) { _ in log.add(2) }
            last.fill(with: 0)
            last.upon(.immediate) { _ in log.add(3) }
        }
        futures[0].fill(with: 0)
        #expect(log.entries == [1, 2, 3])
    }

    #if os(macOS) || os(Linux)
    @Test func `a thread that has caught up is not taken for one that is behind`() async {
        await #expect(processExitsWith: .success) {
            let (futures, log) = ((0..<100).map { _ in Deferred<Int>() }, Log<Bool>())
            for index in 0..<99 {
                futures[index].upon(.immediate) {
                    futures[index + 1].fill(with: $0)
                    log.add(Trampoline.hasPutOff)
                }
            }
            futures[0].fill(with: 0)
            precondition(log.entries.contains(true) && !Trampoline.hasPutOff)
        }
    }
    #endif

    @Test func `a postponed handler can be cancelled`() {
        let log = Log<Int>()
        let (first, last) = (Deferred<Int>(), Deferred<Int>())
        let taken = last.upon(.immediate) { _ in log.add(0) }
        last.upon(.immediate) { _ in log.add(1) }
        let futures = [first] + (0..<31).map { _ in Deferred<Int>() }
        for index in 0..<31 { futures[index].upon(.immediate) { futures[index + 1].fill(with: $0) } }
        futures[31].upon(.immediate) { _ in
            last.fill(with: 0)
            taken.cancel()
        }
        first.fill(with: 0)
        #expect(log.entries == [1])
        #expect(taken.isCancelled)
    }
}

private struct Inline: Executor {
    func submit(_ body: @escaping @Sendable () -> Void) { body() }
}

private struct SmallNode: Sendable {
    let token: Lifetimes.Token
    let next: Future<SmallNode>
}

/// A value that does not fit into a future's own memory.
private struct LargeNode: Sendable {
    let token: Lifetimes.Token
    let next: Future<LargeNode>
    let others = (0, 1, 2, 3)
}
