import DeferredCore
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskLocalsTests {
    private enum Local {
        @TaskLocal static var number = 0
        @TaskLocal static var token: Lifetimes.Token?
    }

    private func captured(_ number: Int) async -> TaskLocals? {
        await _Concurrency.Task { Local.$number.withValue(number) { TaskLocals.ofRunningTask() } }.value
    }

    @Test func `a closure that is called later sees the task-locals of the beginning, on the thread that calls`() async
    {
        let locals = await captured(1)
        await onThread {
            for _ in 0..<3 {
                let thread = pthread_self()
                let seen = locals.restore { (Local.number, pthread_self() == thread) }
                #expect(seen == (1, true))
                #expect(Local.number == 0)
            }
        }
    }

    @Test func `a Swift task that calls has its own afterwards, and isn't the one that the closure runs in`() async {
        let locals = await captured(1)
        await _Concurrency.Task {
            withUnsafeCurrentTask { $0?.cancel() }
            Local.$number.withValue(2) {
                locals.restore {
                    #expect(Local.number == 1 && !_Concurrency.Task.isCancelled)
                    Local.$number.withValue(3) { locals.restore { #expect(Local.number == 1) } }
                    #expect(Local.number == 1)
                }
                #expect(Local.number == 2 && _Concurrency.Task.isCancelled)
            }
        }.value
    }

    @Test func `several threads may use it at once, and within one another`() async {
        let locals = await captured(1)
        let seen = Log<Int>()
        await onThread {
            race(8) { _ in
                for _ in 0..<rounds(200) { locals.restore { locals.restore { seen.add(Local.number) } } }
            }
        }
        #expect(seen.entries.count == 8 * rounds(200) && seen.entries.allSatisfy { $0 == 1 })
    }

    @Test func `an error is passed on`() async {
        let locals = await captured(1)
        #expect(throws: CocoaError.self) { try locals.restore { throw CocoaError(.fileNoSuchFile) } }
    }

    @Test func `outside of a Swift task, only who asks for it captures`() async {
        await onThread {
            let locals = TaskLocals.ofRunningTask()
            #expect(locals == nil && locals.restore { 1 } == 1)
            let asked: TaskLocals? = Local.$number.withValue(1) { TaskLocals(ofRunningCode: ()) }
            #expect(asked.restore { Local.number } == 1 && Local.number == 0)
        }
    }

    @Test(arguments: [0, 1, 3])
    func `values and closures are released with it`(uses: Int) async {
        let lifetimes = Lifetimes()
        await _Concurrency.Task {
            var locals = Local.$token.withValue(lifetimes.make()) { TaskLocals.ofRunningTask() }
            for _ in 0..<uses { locals.restore { [token = lifetimes.make()] in token.touch() } }
            #expect(lifetimes.count == 1 && locals != nil)
            locals = nil
            #expect(lifetimes.count == 0)
        }.value
    }
}
