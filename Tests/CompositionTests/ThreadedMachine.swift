import DeferredCore
import Dispatch
import Foundation
import Synchronization

/// Runs programs on several threads at once, on the library alone, and checks invariants that hold in any order.
enum ThreadedMachine {
    /// Finds the first program that fails, with the failure.
    static func firstFailure(in seeds: Range<UInt64>) -> String? {
        for seed in seeds {
            var generator = Generator(seed: seed)
            let program = generator.program()
            let threads = Int(seed % 3) + 2
            guard let wrong = check(program, threads: threads) else { continue }
            // A race may need several attempts to show.
            let small = Shrinker { program in (0..<20).contains { _ in check(program, threads: threads) != nil } }
                .shrink(program)
            return "RANDOM_SEED=\(seed), \(threads) threads: \(wrong)\n\(small.source)"
        }
        return nil
    }

    static func check(_ program: Program, threads: Int) -> String? {
        let counts = Counts(steps: program.count, isThreaded: true)
        if let wrong = run(program, counts, threads) { return wrong }
        let (captures, values) = (
            counts.captures.load(ordering: .acquiring), counts.payloads.load(ordering: .acquiring)
        )
        guard captures != 0 || values != 0 else { return nil }
        return "\(captures) captures and \(values) values alive at the end"
    }

    private static func run(_ program: Program, _ counts: Counts, _ threads: Int) -> String? {
        let runner = Runner(program, LibraryUniverse(counts), isThreaded: true)
        // The items that the threads share are made before the threads start.
        let beginning = program.steps.count / 3
        runner.run(program.steps[..<beginning])
        let group = DispatchGroup()
        for index in 0..<threads {
            group.enter()
            let thread = Thread {
                let steps = program.steps[beginning...].filter { $0.id % threads == index }
                runner.run(steps)
                group.leave()
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        // On a dedicated thread. After a minute, the run counts as hanging and is left behind.
        guard group.wait(timeout: .now() + 60) == .success else { return "some thread hangs" }
        var wrong: String?
        runner.universe.collectJobs {
            runner.settle()
            wrong = runner.records.check(runner.universe)
            // Dropping items may run handlers, which register others.
            for _ in 0..<3 {
                runner.records.removeAll()
                runner.drop()
            }
            runner.records.removeAll()
        }
        return wrong
    }
}

/// The events of handlers and producers that threads have observed.
///
/// SAFETY: everything is locked.
final class Records<Item: Sendable>: @unchecked Sendable {
    final class Handler: @unchecked Sendable {
        fileprivate let lock = NSLock()
        fileprivate var future: Item?
        fileprivate let mayBeDropped: Bool
        fileprivate var inputs: [Int] = []
        private var stored: Item?

        fileprivate init(_ future: Item, mayBeDropped: Bool) {
            self.future = future
            self.mayBeDropped = mayBeDropped
        }

        func called(_ input: Int) { lock.withLock { inputs.append(input) } }

        var registration: Item? {
            get { lock.withLock { stored } }
            set { lock.withLock { stored = newValue } }
        }
    }

    private let lock = NSLock()
    private var handlers: [Handler] = []
    private var wins: [(producer: Item, value: Int)] = []

    /// - Parameter mayBeDropped: True if the executor may drop the handler without running it.
    func handler(of future: Item, mayBeDropped: Bool) -> Handler {
        let handler = Handler(future, mayBeDropped: mayBeDropped)
        lock.withLock { handlers.append(handler) }
        return handler
    }

    func filled(_ producer: Item, _ value: Int) { lock.withLock { wins.append((producer, value)) } }

    func removeAll() {
        let (oldHandlers, oldWins) = lock.withLock {
            defer { (handlers, wins) = ([], []) }
            return (handlers, wins)
        }
        // Both references lead back to the handler, which retains its record: breaks the cycle.
        for handler in oldHandlers { (handler.registration, handler.future) = (nil, nil) }
        withExtendedLifetime(oldWins) {}
    }
}

extension Records<LibraryUniverse.Item> {
    /// Returns the first violation, once nothing runs any more.
    func check(_ universe: LibraryUniverse) -> String? {
        var winners: [ObjectIdentifier: Int] = [:]
        for (producer, value) in wins {
            guard let key = universe.identity(producer) else { continue }
            if winners[key] != nil { return "two calls have filled one future" }
            winners[key] = value
            if code(universe.peek(producer) ?? nil) != value {
                return "a future has another value than the one that won"
            }
        }
        for handler in handlers {
            let value = handler.future.flatMap { universe.peek($0) } ?? nil
            let wasTakenBack = handler.registration.flatMap { universe.isCancelled($0) } ?? false
            if handler.inputs.count > 1 { return "a handler ran \(handler.inputs.count) times" }
            if wasTakenBack, !handler.inputs.isEmpty { return "a handler ran that was taken back" }
            if let input = handler.inputs.first, input != code(value) { return "a handler saw another value" }
            if value != nil, !wasTakenBack, handler.inputs.isEmpty, !handler.mayBeDropped {
                return "a handler did not run"
            }
        }
        return nil
    }
}
