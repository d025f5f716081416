import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RunLoopExecutorTests {
    @Test func `closures run on the thread of the loop`() async throws {
        let loop = try await LoopThread.start()
        let thread = Future(value: 1).map(on: loop.executor) { _ in ObjectIdentifier(Thread.current) }
        #expect(try await thread.get() == loop.thread)
        try await loop.stop()
    }

    @Test func `a loop that waits wakes up, each time`() async throws {
        let loop = try await LoopThread.start()
        var random = SeededGenerator(seed: 2)
        for index in 0..<500 {
            let answer = Deferred<Int>()
            let echo = answer.map(on: loop.executor) { $0 }
            await giveWay(using: &random)
            answer.fill(with: index)
            // Nothing else ever wakes the loop: without the executor's wake-up, this would wait for ever.
            #expect(try await echo.get() == index)
        }
        try await loop.stop()
    }

    @Test func `closures from one thread keep their order, and those of many all run`() async throws {
        let (loop, log) = (try await LoopThread.start(), Log<(thread: Int, index: Int)>())
        let all = Deferred<Void>()
        let (threads, each) = (4, 500)
        race(threads) { thread in
            for index in 0..<each { loop.executor.submit { log.add((thread, index)) } }
        }
        loop.executor.submit { all.fill() }
        try await all.get()
        for thread in 0..<threads {
            #expect(log.entries.filter { $0.thread == thread }.map(\.index) == Array(0..<each))
        }
        try await loop.stop()
    }

    @Test func `a closure may submit another, which runs after those submitted before`() async throws {
        let (loop, log, end) = (try await LoopThread.start(), Log<Int>(), Deferred<Void>())
        loop.executor.submit {
            loop.executor.submit { log.add(1) }
            loop.executor.submit {
                log.add(3)
                end.fill()
            }
            log.add(0)
        }
        try await end.get()
        #expect(log.entries == [0, 1, 3])
        try await loop.stop()
    }

    @Test func `closures of another mode wait, those of the common modes do not`() async throws {
        let (loop, log) = (try await LoopThread.start(), Log<String>())
        let end = Deferred<Void>()
        loop.inOtherMode.submit { log.add("other") }
        loop.inCommonModes.submit {
            log.add("common")
            end.fill()
        }
        try await end.get()
        #expect(log.entries == ["common"])
        try await loop.stop()
    }

    @Test func `closures are released after they run, and unrun ones with the loop`() async throws {
        let lifetimes = Lifetimes()
        do {
            let (loop, end) = (try await LoopThread.start(), Deferred<Void>())
            loop.inOtherMode.submit { [token = lifetimes.make()] in token.touch() }
            loop.executor.submit { [token = lifetimes.make()] in
                token.touch()
                end.fill()
            }
            try await end.get()
            try await eventually { lifetimes.count == 1 }
            try await loop.stop()
        }
        try await eventually { lifetimes.count == 0 }
    }

    #if os(macOS) || os(Linux)
    @Test func `60,000 closures leave nothing behind`() async {
        await #expect(processExitsWith: .success) {
            let loop = try await LoopThread.start()
            func rounds(_ count: Int) async throws {
                for _ in 0..<count {
                    let done = Deferred<Void>()
                    // One closure from another thread, and one from the loop's own.
                    loop.executor.submit { loop.executor.submit { done.fill() } }
                    try await done.get()
                }
            }
            try await rounds(isSanitized ? 100 : 5_000)
            let before = residentMemory()
            try await rounds(isSanitized ? 10_000 : 30_000)
            let growth = residentMemory() - before
            precondition(isSanitized || growth < 3 << 20, "\(growth) bytes more than before")
            try await loop.stop()
        }
    }
    #endif

    #if os(macOS) || os(Linux)
    @Test func `a thread may end while its loop is being woken`() async {
        await #expect(processExitsWith: .success) {
            let ends = Log<Void>()
            let count = 1_000
            for index in 0..<count {
                let thread = Thread {
                    // Wakes the loop from another thread.
                    RunLoopExecutor(.current).submit {}
                    if index % 2 == 0 { RunLoop.current.run() }
                    ends.add(())
                }
                thread.start()
            }
            try await eventually { ends.entries.count == count }
        }
    }
    #endif

    @Test func `an executor that nobody keeps still runs its closures, and does not keep the loop from returning`()
        async throws
    {
        let (log, returned) = (Log<Int>(), Deferred<Void>())
        let thread = Thread {
            RunLoopExecutor(.current).submit { log.add(1) }
            let kept = RunLoopExecutor(.current)
            kept.submit { log.add(2) }
            // A loop without timers and ports runs the submitted closures, and returns.
            RunLoop.current.run()
            returned.fill()
            withExtendedLifetime(kept) {}
        }
        thread.start()
        try await returned.get()
        #expect(log.entries == [1, 2])
    }
}
