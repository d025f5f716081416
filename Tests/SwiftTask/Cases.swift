// Uses of `Task` in Swift. The script `run` compiles this file as it stands, and once more with `import Deferred` in front
// of it, and compares what both print. Each case has a row in the article "Using async/await".

import Dispatch
import Synchronization

// MARK: - What the cases use

enum Locals {
    @TaskLocal static var number = 0
}

struct Refusal: Error, CustomStringConvertible {
    var description: String { "refused" }
}

/// A list that many tasks add to.
final class Notes: Sendable {
    private let notes = Mutex<[String]>([])

    func add(_ note: some Any) { notes.withLock { [text = "\(note)"] in $0.append(text) } }

    var all: [String] { notes.withLock { $0 } }
}

/// Lets tasks wait until it is opened.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

actor Ledger {
    private(set) var entries: [Int] = []

    func startMany() async throws -> [Int] {
        let tasks = (0..<100).map { index in Task { entries.append(index) } }
        for task in tasks { try await task.value }
        return entries
    }

    func startHere() async throws -> Bool {
        try await Task { isHere }.value
    }

    func startDetached() async throws -> Bool {
        try await Task.detached { [self] in await isHere }.value
    }

    func startImmediately() async throws -> [Int] {
        let task = Task.immediate { entries.append(1) }
        entries.append(2)
        try await task.value
        return entries
    }

    private var isHere: Bool {
        assertIsolated()
        return true
    }
}

final class Counter {
    private var count = 0

    func increment() -> Int {
        count += 1
        return count
    }
}

final class OwnExecutor: TaskExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "own executor")

    init() {
        queue.setSpecific(key: Self.key, value: true)
    }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

func twice(_ number: Int) async -> Int {
    await Task.yield()
    return 2 * number
}

func refuse() async throws -> Int { throw Refusal() }

func untilCancelled() async -> Bool {
    while !Task.isCancelled { await Task.yield() }
    return true
}

@MainActor
func onMainActor() async throws -> Bool {
    try await Task {
        MainActor.assertIsolated()
        return true
    }.value
}

// MARK: - The cases

@main
struct Cases {
    static func main() async throws {
        try await results()
        try await cancelling()
        try await waiting()
        try await context()
        try await priorities()
        try await executors()
        try await others()
    }

    /// Runs a case, and prints its name with what it returns or throws.
    static func test<Outcome>(_ name: String, _ body: () async throws -> Outcome) async {
        do {
            print("\(name): \(try await body())")
        } catch {
            print("\(name): throws \(error)")
        }
    }

    static func results() async throws {
        await test("`Task { }` and `value`") { try await Task { await twice(21) }.value }
        await test("`Task { }` that throws") { try await Task { try await refuse() }.value }
        await test("`result` of a success") { try await Task { 1 }.result.get() }
        await test("`result` of a failure") { await "\(Task { try await refuse() }.result)" }
        await test("`Task.detached`") { try await Task.detached { await twice(2) }.value }
        await test("a task in a task") { try await Task { try await Task { 1 }.value + 1 }.value }
        await test("a task of nothing") { try await Task {}.value }
        await test("a task whose value is discarded") {
            let gate = Gate()
            Task { await gate.open() }
            await gate.pass()
            return "ran"
        }
        await test("`value`, many times") {
            let task = Task { await twice(1) }
            return try await [task.value, task.value, task.value]
        }
        await test("tasks in a `Set`") {
            let (first, second) = (Task { 1 }, Task { 1 })
            return Set([first, second, first]).count
        }
        await test("`==`") {
            let (first, second) = (Task { 1 }, Task { 1 })
            let copy = first
            return [first == copy, first == second]
        }
        await test("a value that is sent to the task") {
            let counter = Counter()
            return try await Task { counter.increment() }.value
        }
        await test("an error keeps its type") {
            do { return try await "\(Task { try await refuse() }.value)" } catch is Refusal { return "Refusal" }
        }
    }

    static func cancelling() async throws {
        await test("`isCancelled` of a new task") { Task { 1 }.isCancelled }
        await test("`cancel()` and `Task.isCancelled`") {
            let task = Task { await untilCancelled() }
            task.cancel()
            return try await task.value
        }
        await test("`isCancelled` while the task runs") {
            let gate = Gate()
            let task = Task { await gate.pass() }
            task.cancel()
            defer { Task { await gate.open() } }
            return task.isCancelled
        }
        await test("`isCancelled` when a cancelled task has ended") {
            let task = Task { await untilCancelled() }
            task.cancel()
            _ = try await task.value
            return task.isCancelled
        }
        await test("`isCancelled` of a task that is cancelled after its end") {
            let task = Task { 1 }
            _ = try await task.value
            task.cancel()
            return task.isCancelled
        }
        await test("`Task.checkCancellation()`") {
            let task = Task {
                _ = await untilCancelled()
                try Task.checkCancellation()
            }
            task.cancel()
            return try await task.value
        }
        await test("a task that is cancelled before it begins") {
            let gate = Gate()
            let task = Task {
                await gate.pass()
                return "ran, \(Task.isCancelled)"
            }
            task.cancel()
            await gate.open()
            return try await task.value
        }
        await test("`cancel()`, twice") {
            let notes = Notes()
            let task = Task {
                await withTaskCancellationHandler {
                    _ = await untilCancelled()
                } onCancel: {
                    notes.add("cancelled")
                }
            }
            task.cancel()
            task.cancel()
            try await task.value
            return notes.all
        }
        await test("a task in a task that is cancelled") {
            let task = Task {
                _ = await untilCancelled()
                return try await Task { Task.isCancelled }.value
            }
            task.cancel()
            return try await task.value
        }
        await test("`withTaskCancellationHandler`") {
            let notes = Notes()
            let gate = Gate()
            let task = Task {
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    notes.add("cancelled")
                }
                return notes.all
            }
            while !task.isCancelled { task.cancel() }
            await gate.open()
            return try await task.value
        }
        await test("`Task.sleep(for:)` that is cancelled") {
            let task = Task { try await Task.sleep(for: .seconds(1_000)) }
            task.cancel()
            return try await task.value
        }
        await test("`Task.sleep(until:)` that is cancelled") {
            let task = Task { try await Task.sleep(until: .now + .seconds(1_000)) }
            task.cancel()
            return try await task.value
        }
        await test("`withUnsafeCurrentTask { $0?.cancel() }`, seen inside") {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return Task.isCancelled
            }.value
        }
        await test("`withUnsafeCurrentTask { $0?.cancel() }`, seen outside") {
            let (cancelled, gate) = (Gate(), Gate())
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await cancelled.open()
                await gate.pass()
            }
            await cancelled.pass()
            defer { Task { await gate.open() } }
            return task.isCancelled
        }
    }

    static func waiting() async throws {
        await test("`value` in a task that is cancelled") {
            let gate = Gate()
            let task = Task {
                await gate.pass()
                return Task.isCancelled
            }
            let waiting = Task { try await task.value }
            waiting.cancel()
            await gate.open()
            return try await waiting.value
        }
        await test("`get()` in a task that is cancelled") {
            let (started, gate) = (Gate(), Gate())
            let task = Task {
                await gate.pass()
                return Task.isCancelled
            }
            let waiting = Task {
                await started.open()
                return try await task.get()
            }
            await started.pass()
            waiting.cancel()
            await gate.open()
            return try await waiting.value
        }
        await test("`value` in a task group") {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...10 { group.addTask { try await Task { number }.value } }
                return try await group.reduce(0, +)
            }
        }
        await test("`value` in `async let`") {
            async let six = Task { 6 }.value
            async let seven = Task { 7 }.value
            return try await six * seven
        }
        await test("a group in a task that is cancelled") {
            let task = Task {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 1...3 { group.addTask { await untilCancelled() } }
                    return await group.reduce(true) { $0 && $1 }
                }
            }
            task.cancel()
            return try await task.value
        }
        await test("a continuation") {
            try await Task {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume(returning: 7) }
                }
            }.value
        }
        await test("an `AsyncStream`") {
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let task = Task { await stream.reduce(0, +) }
            for number in 1...4 { continuation.yield(number) }
            continuation.finish()
            return try await task.value
        }
        await test("`Task.sleep(for:)`") { try await Task.sleep(for: .nanoseconds(1)) }
        await test("`Task.sleep(for:tolerance:clock:)`") {
            try await Task.sleep(for: .nanoseconds(1), tolerance: .zero, clock: .suspending)
        }
        await test("`Task.sleep(until:clock:)`") { try await Task.sleep(until: .now, clock: .continuous) }
        await test("`Task.sleep(nanoseconds:)`") { try await Task.sleep(nanoseconds: 1) }
        await test("`Task.sleep(_:)`") { await Task.sleep(1) }
        await test("`Task.yield()`") { await Task.yield() }
        await test("`Task.suspend()`") { await Task.suspend() }
    }

    static func context() async throws {
        await test("task-local values in `Task { }`") {
            try await Locals.$number.withValue(5) { Task { Locals.number } }.value
        }
        await test("task-local values in `Task.detached`") {
            try await Locals.$number.withValue(5) { Task.detached { Locals.number } }.value
        }
        await test("task-local values in `Task.immediate`") {
            try await Locals.$number.withValue(5) { Task.immediate { Locals.number } }.value
        }
        await test("the actor of `Task { }`") { try await Ledger().startHere() }
        await test("the actor of `Task.detached`") { try await Ledger().startDetached() }
        await test("the order of an actor's tasks") { try await Ledger().startMany() == Array(0..<100) }
        await test("the main actor") { try await onMainActor() }
        await test("`Task.name`") {
            try await [Task(name: "a") { Task.name ?? "none" }.value, Task { Task.name ?? "none" }.value]
        }
        await test("`Task.name` of `Task.detached`") {
            try await Task.detached(name: "a") { Task.name ?? "none" }.value
        }
        await test("`withUnsafeCurrentTask`") { try await Task { withUnsafeCurrentTask { $0 != nil } }.value }
    }

    static func priorities() async throws {
        await test("`Task(priority:)`") { try await Task(priority: .high) { Task.currentPriority }.value }
        await test("the priority of `Task { }`") {
            try await Task(priority: .high) { try await Task { Task.currentPriority }.value }.value
        }
        await test("the priority of `Task.detached`") {
            let task = Task(priority: .low) { Task.detached { Task.basePriority } }
            return try await task.value.value ?? .background
        }
        await test("`Task.basePriority`") { try await Task(priority: .low) { Task.basePriority == .low }.value }
        await test("`escalatePriority(to:)`") {
            let gate = Gate()
            let task = Task(priority: .background) {
                await gate.pass()
                return Task.currentPriority
            }
            task.escalatePriority(to: .high)
            await gate.open()
            return try await task.value
        }
        await test("`value` raises the priority") {
            try await Task(priority: .high) {
                let task = Task(priority: .background) {
                    while Task.currentPriority < .high { await Task.yield() }
                    return Task.currentPriority
                }
                return try await task.value
            }.value
        }
        await test("`withTaskPriorityEscalationHandler`") {
            let (notes, started) = (Notes(), Gate())
            let task = Task(priority: .background) {
                await withTaskPriorityEscalationHandler {
                    await started.open()
                    while notes.all.isEmpty { await Task.yield() }
                } onPriorityEscalated: { _, new in
                    notes.add(new)
                }
                return notes.all
            }
            await started.pass()
            task.escalatePriority(to: .high)
            return try await task.value
        }
    }

    static func executors() async throws {
        await test("`Task(executorPreference:)`") {
            try await Task(executorPreference: OwnExecutor()) { OwnExecutor.isCurrent }.value
        }
        await test("`Task.detached(executorPreference:)`") {
            try await Task.detached(executorPreference: OwnExecutor()) { OwnExecutor.isCurrent }.value
        }
        await test("`Task.immediate`") { try await Ledger().startImmediately() }
        await test("`Task.immediate` up to its first suspension") {
            let (notes, gate) = (Notes(), Gate())
            let task = Task.immediate {
                notes.add("begins")
                await gate.pass()
                notes.add("ends")
            }
            notes.add("returns")
            await gate.open()
            try await task.value
            return notes.all
        }
        await test("`Task.immediateDetached`") {
            try await Locals.$number.withValue(5) {
                let notes = Notes()
                let task = Task.immediateDetached { notes.add("begins with \(Locals.number)") }
                notes.add("returns")
                try await task.value
                return notes.all
            }
        }
    }

    static func others() async throws {
        await test("`print(task)`") { "\(Task { 1 })".contains("Opaque") ? "its storage" : "its state" }
        await test("the type's name") { "\(type(of: Task { try await refuse() }))" }
    }
}
