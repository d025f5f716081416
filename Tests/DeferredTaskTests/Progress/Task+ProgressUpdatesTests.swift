import DeferredCore
import DeferredTask
import Dispatch
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressUpdatesTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `it starts with the current snapshot, and ends with the task`() async {
        let (producer, reporter) = (Producer(), ProgressReporter())
        let task = Task(producer, reporter: reporter)
        reporter.report(completed: 1, of: 4)
        var fractions: [Double] = []
        for await snapshot in task.progressUpdates {
            fractions.append(snapshot.fraction)
            switch fractions.count {
            case 1: reporter.report(completed: 2, of: 4)
            case 2: producer.succeed(with: 1)
            default: break
            }
        }
        #expect(fractions == [0.25, 0.5, 1])
    }

    @Test func `the newest wins`() async {
        let (producer, reporter) = (Producer(), ProgressReporter())
        let task = Task(producer, reporter: reporter)
        var iterator = task.progressUpdates.makeAsyncIterator()
        #expect(await iterator.next(isolation: nil)?.completed == 0)
        for completed in 1...10 { reporter.report(completed: Int64(completed), of: 10) }
        #expect(await iterator.next(isolation: nil)?.completed == 10)
        producer.fail(with: CancellationError())
        #expect(await iterator.next(isolation: nil)?.fraction != 1)
        #expect(await iterator.next(isolation: nil) == nil)
    }

    @Test func `leaving the loop leaves nothing registered, and the task running`() async {
        let (producer, reporter, lifetimes) = (Producer(), ProgressReporter(), Lifetimes())
        let task = Task(producer, reporter: reporter).map { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        for await _ in task.progressUpdates { break }
        #expect(!task.isCancelled && task.peek() == nil)
        producer.succeed(with: 1)
        #expect(task.valueNow == 1)
        #expect(lifetimes.count == 0)
    }

    @Test func `a loop that is left at the end of the task keeps neither the task nor its value`() async {
        let lifetimes = Lifetimes()
        for reads in 0...2 {
            let (producer, reporter) = (Deferred<Task<Lifetimes.Token>.Result>(), ProgressReporter())
            let task = Task(producer, reporter: reporter)
            var iterator = task.progressUpdates.makeAsyncIterator()
            for read in 0..<reads {
                reporter.report(completed: Int64(read), of: 4)
                #expect(await iterator.next(isolation: nil) != nil)
            }
            producer.succeed(with: lifetimes.make())
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `a loop whose task is cancelled ends`() async {
        let task = Task(Producer(), reporter: ProgressReporter())
        let (started, ended) = (Deferred<Void>(), Deferred<Bool>())
        let loop = _Concurrency.Task {
            for await _ in task.progressUpdates { started.fill() }
            ended.fill(with: true)
        }
        await started.value
        loop.cancel()
        #expect(await ended.value)
        #expect(!task.isCancelled)
    }

    #if DEBUG
    @Test(arguments: 1...40)
    func `a task that succeeds while a loop begins ends the loop with a last snapshot`(step: Int) async {
        let producer = Producer()
        let task = Task(producer)
        let (filling, holdUp) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        task.upon(.immediate) { _ in
            filling.signal()
            holdUp.wait()
        }
        // Before this step, the task ends on another thread, which an older handler holds up.
        var iterator = interrupting(at: step) {
            DispatchQueue.global().async { producer.succeed(with: 1) }
            filling.wait()
        } during: {
            task.progressUpdates.makeAsyncIterator()
        }
        holdUp.signal()
        var fractions: [Double] = []
        while let snapshot = await iterator.next(isolation: nil) { fractions.append(snapshot.fraction) }
        #expect(fractions.last == 1)
    }

    /// Calls `interruption` before an atomic step of `body`, or afterwards if it takes fewer steps.
    private func interrupting<Result>(
        at step: Int,
        with interruption: @escaping () -> Void,
        during body: () -> Result
    ) -> Result {
        var (count, result) = (0, Result?.none)
        Interleaving.stepping { _, _ in
            count += 1
            if count == step { Interleaving.notStepping(interruption) }
        } _: {
            result = body()
        }
        if count < step { interruption() }
        return result.unsafelyUnwrapped
    }
    #endif

    @Test func `each loop starts over`() async {
        let task = Task.success(1)
        let updates = task.progressUpdates
        for _ in 0..<2 {
            var fractions: [Double] = []
            for await snapshot in updates { fractions.append(snapshot.fraction) }
            #expect(fractions == [1])
        }
    }
}
