import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct HTTPTaskTests {
    @Test func `cancellation handlers run newest first, completion handlers oldest first`() {
        let (task, journal) = (HTTPTask(.example), Journal<String>())
        for number in 1...3 {
            task.addCancellationHandler { journal.add("cancel \(number)") }
            task.addCompletionHandler { _ in journal.add("complete \(number)") }
        }
        task.cancel()
        #expect(journal.entries == ["cancel 3", "cancel 2", "cancel 1"])
        task.succeed(.ok)
        #expect(journal.entries.dropFirst(3) == ["complete 1", "complete 2", "complete 3"])
    }

    @Test func `handlers that come late run at once, or never`() {
        let (task, journal) = (HTTPTask(.example), Journal<String>())
        task.cancel()
        task.addCancellationHandler { journal.add("cancel") }
        #expect(journal.entries == ["cancel"])
        task.succeed(.ok)
        task.addCancellationHandler { journal.add("never") }
        task.addCompletionHandler { _ in journal.add("complete") }
        #expect(journal.entries == ["cancel", "complete"])
    }

    @Test(arguments: 0...2)
    func `a loader that waits for the result is called in its turn, with or without a future`(_ turn: Int) {
        let (task, journal, lifetimes) = (HTTPTask(.example), Journal<String>(), Lifetimes())
        for number in 0...2 {
            if number == turn {
                let object = lifetimes.make()
                task.execution.whenEnded { _ in
                    withExtendedLifetime(object) { journal.add("\(number)") }
                }
            } else {
                task.addCompletionHandler { _ in journal.add("\(number)") }
            }
        }
        task.succeed(.ok)
        #expect(journal.entries == ["0", "1", "2"] && lifetimes.count == 0)
        task.execution.whenEnded { _ in journal.add("late") }
        #expect(journal.entries.last == "late" && task.statusNow == .ok)
    }

    @Test(arguments: 1...2)
    func `loaders wait for the result, and nobody else`(_ count: Int) {
        let (task, journal, lifetimes) = (HTTPTask(.example), Journal<Int>(), Lifetimes())
        for number in 1...count {
            let object = lifetimes.make()
            task.execution.whenEnded { _ in withExtendedLifetime(object) { journal.add(number) } }
        }
        #expect(journal.entries.isEmpty && lifetimes.count == count)
        task.fail(.timedOut)
        #expect(journal.entries == Array(1...count) && lifetimes.count == 0)
        #expect(task.codeNow == .timedOut)
    }

    @Test func `loaders that wait for each other's results need little stack`() {
        let (tasks, journal) = ((0..<20_000).map { _ in HTTPTask(.example) }, Journal<Int>())
        for (index, task) in tasks.enumerated() {
            task.execution.whenEnded { _ in
                if index + 1 < tasks.count { tasks[index + 1].succeed(.ok) }
            }
            if index.isMultiple(of: 1_000) { task.addCompletionHandler { _ in journal.add(index) } }
        }
        tasks[0].succeed(.ok)
        #expect(tasks.allSatisfy { $0.statusNow == .ok })
        #expect(journal.entries.sorted() == Array(stride(from: 0, to: 20_000, by: 1_000)))
    }

    @Test func `a loader waits for the result while others ask for the future and complete the task`() {
        for _ in 0..<(isSanitized ? 300 : 2_000) {
            let (task, journal) = (HTTPTask(.example), Journal<Int>())
            race(5) { index in
                switch index {
                case 0, 1: task.execution.whenEnded { _ in journal.add(index) }
                case 2: task.addCompletionHandler { _ in journal.add(index) }
                case 3: _ = task.peek()
                default: task.succeed(.ok)
                }
            }
            #expect(journal.entries.sorted() == [0, 1, 2] && task.statusNow == .ok)
        }
    }

    @Test func `a cancelled handler never runs`() {
        let (task, lifetimes) = (HTTPTask(.example), Lifetimes())
        let cancellation = task.addCancellationHandler { [token = lifetimes.make()] in token.touch() }
        let completion = task.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
        #expect(lifetimes.count == 2)
        cancellation.cancel()
        completion.cancel()
        #expect(lifetimes.count == 0)
        #expect(cancellation.isCancelled && completion.isCancelled)
    }

    @Test func `after the completion no handler is kept`() {
        let (task, lifetimes) = (HTTPTask(.example), Lifetimes())
        task.addCancellationHandler { [token = lifetimes.make()] in token.touch() }
        task.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
        task.succeed(.ok)
        #expect(lifetimes.count == 0)
        #expect(task.statusNow == .ok)
    }

    @Test func `a task that nobody holds completes as abandoned`() {
        let journal = Journal<HTTPResult>()
        var task: HTTPTask? = HTTPTask(.example)
        let id = task?.request.id
        task?.addCompletionHandler { journal.add($0) }
        task = nil
        guard case .failure(let error) = journal.entries.first else {
            Issue.record("\(journal.entries)")
            return
        }
        #expect(error.code == .abandoned && error.request.id == id && journal.entries.count == 1)
    }

    @Test func `a loader that releases a part of a task completes the task`() {
        struct Forgetful: HTTPLoader {
            func load(_ task: HTTPTask) {}
        }
        let chain = ModifyRequest { $0.headers["X"] = "1" } --> Forgetful()
        #expect(chain.load(.example).codeNow == .abandoned)
    }

    @Test func `its task has its result, and cancels it`() async throws {
        let task = HTTPTask(.example)
        task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        let composed = task.task.map { $0.body.count }
        composed.cancel()
        #expect(task.codeNow == .cancelled)
        let response = try await StubLoader(.response(201)).load(.example).get()
        #expect(response.status == .created)
        let failure = try #require(StubLoader(.failure(.timedOut)).load(.example).task.failureNow as? HTTPError)
        #expect(failure.code == .timedOut)
    }

    @Test func `a cancelled error is a cancellation, the others are not`() {
        for code in HTTPError.Code.allCases {
            let error: any Error = HTTPError(code, request: .example)
            #expect(error.isCancellation == (code == .cancelled))
        }
    }

    @Test func `progress passes through parts of the task`() {
        let stub = StubLoader()
        let chain = Retry() --> ModifyRequest { $0.headers["X"] = "1" } --> Validate() --> stub
        let progress = chain.load(.example).task.progress
        stub.tasksInFlight[0].report(completed: 1, of: 4)
        #expect(abs(progress.fractionCompleted - 0.25) < 1e-6)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `a cancelled task is not passed on, nor another request for it`() {
        /// Unlike a stub, it takes a task that is complete.
        struct Witness: HTTPLoader {
            let seen = Journal<HTTPRequest>()
            func load(_ task: HTTPTask) { seen.add(task.request) }
        }
        for isPart in [false, true] {
            let (task, witness) = (HTTPTask(.example), Witness())
            task.cancel()
            if isPart { task.pass(.example, to: witness) } else { task.pass(to: witness) }
            #expect(task.codeNow == .cancelled && witness.seen.entries.isEmpty)
        }
    }

    @Test func `a part that is passed on while its task is cancelled is cancelled, too`() {
        for _ in 0..<(isSanitized ? 300 : 2_000) {
            let (task, stub, parts) = (HTTPTask(.example), StubLoader(), Journal<HTTPTask>())
            race(2) { index in
                if index == 0 {
                    task.cancel()
                } else if let part = task.pass(.example, to: stub) {
                    parts.add(part)
                }
            }
            #expect(parts.entries.allSatisfy { $0.isCancelled })
        }
    }

    @Test func `cancellations and completions from many threads come to one result`() {
        for _ in 0..<(isSanitized ? 300 : 2_000) {
            let (task, completions, cancellations) = (HTTPTask(.example), Journal<HTTPResult>(), Journal<Int>())
            let wins = Journal<Int>()
            race(6) { index in
                switch index {
                case 0, 1: task.cancel()
                case 2: if task.succeed(.ok) { wins.add(2) }
                case 3: if task.fail(.timedOut) { wins.add(3) }
                case 4: task.addCompletionHandler { completions.add($0) }
                default: task.addCancellationHandler { cancellations.add(5) }
                }
            }
            #expect(completions.entries.count == 1 && wins.entries.count == 1)
            #expect((task.statusNow == .ok) == (wins.entries == [2]))
            #expect(cancellations.entries.count <= 1)
        }
    }
}

extension DeferredTask.Task {
    /// The error, if the task has failed already.
    fileprivate var failureNow: (any Error)? {
        if case .failure(let error) = peek() { error } else { nil }
    }
}
