extension Program {
    /// The program as Swift code for a test: the same calls, with numbers for values.
    var source: String { SourceWriter(self).source }
}

/// Writes programs as Swift.
private struct SourceWriter {
    private enum Kind: String {
        case deferred = "Deferred<V>"
        case promise = "Task<Int>.Promise"
        case future = "Future<V>"
        case task = "Task<Int>"
        case registration = "Registration"
        case source = "CancellationTokenSource"
        case request = "RequestToken"
        case latest = "LatestTask<Int>"
        case reporter = "ProgressReporter"
        case progress = "Progress"
    }

    private let program: Program
    private var kinds: [Int: Kind] = [:]

    init(_ program: Program) {
        self.program = program
        // Twice, since operands may be slots of later steps.
        for _ in 0..<2 { note(program.steps + program.executorSteps) }
    }

    var source: String {
        var lines = ["// Seed \(program.seed)", "typealias V = Result<Int, any Error>", "struct TestError: Error {}"]
        let executors = Set(all(program.steps + program.executorSteps).map(\.executor))
        let clock = all(program.steps + program.executorSteps).contains(where: usesClock)
        lines.append("final class Slots: @unchecked Sendable {")
        for (id, kind) in kinds.sorted(by: { $0.key < $1.key }) { lines.append("    var x\(id): \(kind.rawValue)?") }
        lines += ["}", "let s = Slots()"]
        if clock { lines.append("let clock = ManualClock()  // a moment for its sleepers after each step") }
        for executor in executors.sorted(by: { $0.rawValue < $1.rawValue }) { lines += declaration(executor) }
        for step in program.steps { lines += text(step) }
        lines +=
            program.fillsAtEnd
            ? ["// in the end, what is unfilled is filled, and everything dropped"]
            : ["// in the end, everything is dropped"]
        return lines.joined(separator: "\n")
    }

    private func all(_ steps: [Step]) -> [Step] { steps.flatMap { [$0] + all($0.steps) } }

    private func usesClock(_ step: Step) -> Bool {
        switch step.operation {
        case .advance, .delay, .timeout, .retry, .cancelAfter, .startAfter: true
        default: false
        }
    }

    private func declaration(_ executor: ExecutorKind) -> [String] {
        let body: [String]
        switch executor {
        case .immediate: return []
        case .manual: return ["let manual = ManualExecutor()"]
        case .inline: body = ["body()"]
        case .dropping: body = []
        case .twice: body = ["body()", "body()"]
        case .stepping: body = program.executorSteps.flatMap { text($0) } + ["body()"]
        }
        return ["struct \(executor)Executor: Executor {", "    func submit(_ body: @escaping @Sendable () -> Void) {"]
            + body.map { "        " + $0 } + ["    }", "}", "let \(executor) = \(executor)Executor()"]
    }

    private mutating func note(_ steps: [Step]) {
        for step in steps {
            if let kind = kind(step) { kinds[step.id] = kind }
            note(step.steps)
        }
    }

    private func kind(_ step: Step) -> Kind? {
        switch step.operation {
        case .deferred: .deferred
        case .promise: .promise
        case .filled, .zip, .allFilled, .firstFilled, .async: .future
        case .task, .taskOfValue, .never, .success, .failure, .recover, .mapError, .always, .fallback, .timeout,
            .retry, .shared, .cancelledBy, .zipTasks, .allSucceeded, .firstSucceeded, .firstCompleted, .mapTasks:
            .task
        case .map, .flatMap, .delay, .ignored:
            !step.isCore && step.operands.first.flatMap { kinds[$0] } == .task ? .task : .future
        case .upon, .uponSuccess, .uponFailure, .uponCancel, .uponProgress, .register: .registration
        case .source, .linkedSource: .source
        case .request: .request
        case .latest: .latest
        case .reporter: .reporter
        case .hold: .progress
        case .fill, .takeBack, .cancel, .cancelAfter, .start, .startAfter, .report, .poll, .drop, .observe, .run,
            .runAll,
            .removeAll,
            .advance:
            nil
        }
    }

    private func value(_ number: Int) -> String { number % 4 == 3 ? ".failure(TestError())" : ".success(\(number))" }

    /// Returns the steps of a closure and its result, in braces.
    private func closure(_ step: Step, _ parameter: String, returns: String? = nil) -> [String] {
        let inner = step.steps.flatMap { text($0) } + (returns.map { [$0] } ?? [])
        let head = parameter.isEmpty ? "{" : "{ \(parameter) in"
        if inner.count == 1, inner[0].count < 60 { return ["\(head) \(inner[0]) }"] }
        return inner.isEmpty ? ["\(head) }"] : [head] + inner.map { "    " + $0 } + ["}"]
    }

    private func call(_ head: String, _ closure: [String]) -> [String] {
        [head + " " + closure[0]] + closure.dropFirst()
    }

    private func returned(_ step: Step, as kind: Kind?) -> String {
        switch step.outcome {
        case .failure: return kind == .future ? "return Future<V>(value: .failure(TestError()))" : "throw TestError()"
        case .number(let number):
            return switch kind {
            case .future: "return Future<V>(value: .success(\(number)))"
            case .task: "return .success(\(number))"
            default: "return \(number)"
            }
        case .slot(let id):
            guard let kind, let found = kinds[id] else { return returned(step, as: kind, number: id) }
            let item = "s.x\(id)"
            switch (kind, found) {
            case (.task, .task): return "return \(item) ?? .success(\(id))"
            case (.task, .deferred), (.task, .promise), (.task, .future):
                return "return \(item).map { Task($0) } ?? .success(\(id))"
            case (_, .deferred), (_, .promise), (_, .future), (_, .task):
                return "return \(item)?.future ?? Future<V>(value: .success(\(id)))"
            default: return returned(step, as: kind, number: id)
            }
        }
    }

    private func returned(_ step: Step, as kind: Kind?, number: Int) -> String {
        var step = step
        step.outcome = .number(number)
        return returned(step, as: kind)
    }

    private func text(_ step: Step) -> [String] {
        let operands = step.operands.filter { kinds[$0] != nil }.map { "s.x\($0)" }
        let (x, on) = ("s.x\(step.id)", step.executor == .immediate ? ".immediate" : "\(step.executor)")
        let list = "[" + operands.joined(separator: ", ") + "].compactMap { $0 }"
        let result = "\(x) = "
        switch step.operation {
        case .deferred: return [result + "Deferred()"]
        case .promise: return [result + "Task<Int>.Promise()"]
        case .filled: return [result + "Future(value: \(value(step.number)))"]
        case .never: return [result + ".never"]
        case .success: return [result + ".success(\(step.number))"]
        case .failure: return [result + ".failure(TestError())"]
        case .async: return call(result + "Future.async(on: \(on))", closure(step, "", returns: "return .success(0)"))
        case .reporter: return [result + "ProgressReporter()"]
        case .source: return [result + "CancellationTokenSource()"]
        case .latest: return [result + "LatestTask()"]
        case .linkedSource:
            return [
                result
                    + "CancellationTokenSource(linkedTo: \(step.operands.filter { kinds[$0] == .source }.map { "s.x\($0)!.token" }.joined(separator: ", ")))"
            ]
        case .retry:
            let policy =
                "RetryPolicy(attempts: \(step.number % 3 + 1), base: .seconds(\(step.number / 4 % 3)), clock: clock)"
            return call(
                result + "Task.retry(\(policy), on: \(on))",
                closure(step, "_", returns: returned(step, as: .task))
            )
        case .mapTasks:
            let head = "(0..<\(step.number % 4)).mapTasks(maxConcurrent: \(step.number / 4 % 2 + 1))"
            return append(
                ".map { $0.count }",
                to: call(result + head, closure(step, "_", returns: returned(step, as: .task)))
            )
        case .allFilled: return [result + list + ".map(\\.future).allFilled().map { V.success($0.count) }"]
        case .firstFilled: return [result + list + ".map(\\.future).firstFilled()"]
        case .allSucceeded: return [result + list + ".allSucceeded().map(\\.count)"]
        case .firstSucceeded, .firstCompleted: return [result + list + ".\(step.operation)()"]
        case .run, .runAll, .removeAll: return ["manual.\(step.operation)()"]
        case .advance: return ["clock.advance(by: .seconds(\(step.number)))"]
        case .drop: return operands.map { "\($0) = nil" }
        case .observe: return operands.map { "_ = \($0)?.wait(until: .now())" }
        default: break
        }
        guard let one = operands.first else { return [] }
        let isTask = kind(step) == .task
        let (view, kind) = (
            isTask || step.operands.first.flatMap { kinds[$0] } != .task ? one + "?" : one + "?.future", kind(step)
        )
        switch step.operation {
        case .task:
            let reporter = operands.count > 1 ? ", reporter: \(operands[1])!" : ""
            var body = step.number % 2 == 0 ? step.steps.flatMap { text($0) } : []
            if step.failsOnCancel { body.insert("$0.fail(with: CancellationError())", at: 0) }
            let isHandled = step.failsOnCancel || step.number % 2 == 0
            let handler =
                isHandled
                ? ", uponCancel: { \(step.failsOnCancel ? "p in " : "")\(body.joined(separator: "; ")) }"
                : ""
            return [result + "Task(\(one)!\(reporter)\(handler))".replacing("$0", with: "p")]
        case .taskOfValue: return [result + "Task(succeedsFrom: \(one)!.map { _ in 0 })"]
        case .fill: return ["\(one)?.fill(with: \(value(step.number)))"]
        case .upon: return call(result + "\(one)?.upon(\(on))", closure(step, "_"))
        case .uponSuccess, .uponFailure:
            return call(result + "\(one)?.\(step.operation)(on: \(on))", closure(step, "_"))
        case .uponCancel: return call(result + "\(one)?.uponCancel", closure(step, ""))
        case .uponProgress: return [result + "\(one)?.uponProgress(on: \(on)) { print($0.fraction) }"]
        case .map:
            let returned = kind == .task ? returned(step, as: nil) : "return V.success(0)"
            return call(result + "\(view).map(on: \(on))", closure(step, "_", returns: returned))
        case .recover:
            return call(result + "\(one)?.recover(on: \(on))", closure(step, "_", returns: returned(step, as: nil)))
        case .mapError:
            return call(result + "\(one)?.mapError(on: \(on))", closure(step, "_", returns: "return TestError()"))
        case .always: return call(result + "\(one)?.always(on: \(on))", closure(step, "_"))
        case .flatMap:
            return call(result + "\(view).flatMap(on: \(on))", closure(step, "_", returns: returned(step, as: kind)))
        case .fallback:
            return call(
                result + "\(one)?.fallback(on: \(on))",
                closure(step, "_", returns: returned(step, as: .task))
            )
        case .ignored: return [result + "\(view).ignored().map { \(kind == .task ? "7" : "V.success(7)") }"]
        case .delay: return [result + "\(view).delay(for: .seconds(\(step.number % 4)), clock: clock)"]
        case .timeout: return [result + "\(one)?.timeout(after: .seconds(\(step.number % 4)), clock: clock)"]
        case .shared: return [result + "\(one)?.shared()"]
        case .cancelledBy: return operands.dropFirst().map { result + "\(one)?.cancelled(by: \($0)!.token)" }
        case .zip: return operands.dropFirst().map { result + "zip(\(one)!, \($0)!).map { _ in V.success(0) }" }
        case .zipTasks:
            return operands.dropFirst().map { result + "zip(\(one)!, \($0)!.map { \"\\($0)\" }).map { $0.0 }" }
        case .register: return call(result + "\(one)?.token.register", closure(step, ""))
        case .request: return [result + "RequestToken(\(one)!)"]
        case .start:
            return operands.dropFirst().flatMap { task in call("\(one)?.start(\(task)!, on: \(on))", closure(step, "_"))
            }
        case .startAfter:
            let head = "\(one)?.start(after: .seconds(\(step.number % 4)), clock: clock, on: \(on))"
            return append(
                " deliver: { _ in }",
                to: call(head, closure(step, "", returns: returned(step, as: .task)))
            )
        case .cancelAfter: return ["\(one)?.cancel(after: .seconds(\(step.number % 4)), clock: clock)"]
        case .takeBack, .cancel: return ["\(one)?.cancel()"]
        case .report: return ["\(one)?.report(completed: \(step.number), of: 10)"]
        case .poll:
            return ["print(\(one)!\(kinds[step.operands[0]] == .progress ? "" : ".progress").fractionCompleted)"]
        case .hold: return [result + "\(one)?.progress"]
        default: return []
        }
    }

    private func append(_ text: String, to lines: [String]) -> [String] {
        Array(lines.dropLast()) + [(lines.last ?? "") + text]
    }
}
