/// Shrinks failing programs: delta debugging over the steps, those in closures included.
struct Shrinker {
    /// Returns true if a program still fails.
    let fails: (Program) -> Bool

    func shrink(_ program: Program) -> Program {
        var best = program
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            // First groups of steps, then single steps, then the details of the steps that are left.
            var size = max(identifiers(best).count / 2, 1)
            while size >= 1 {
                let ids = identifiers(best)
                for start in stride(from: 0, to: ids.count, by: size) {
                    let removed = Set(ids[start..<min(start + size, ids.count)])
                    isSmaller = attempt(remove(removed, from: best), &best) || isSmaller
                }
                size /= 2
            }
            for id in identifiers(best) {
                for simpler in simplifications {
                    isSmaller = attempt(change(id, in: best, simpler), &best) || isSmaller
                }
            }
        }
        return best
    }

    private func attempt(_ candidate: Program, _ best: inout Program) -> Bool {
        guard size(candidate) < size(best), fails(candidate) else { return false }
        best = candidate
        return true
    }

    private let simplifications: [(inout Step) -> Void] = [
        { $0.executor = .immediate },
        { $0.outcome = .number(0) },
        { $0.failsOnCancel = false },
        { $0.isCore = false },
        { $0.number = 0 },
        { $0.number = 1 },
        { if $0.operands.count > 1 { $0.operands.removeLast() } },
        { if $0.operands.count > 2 { $0.operands.removeFirst() } },
    ]

    /// Weighs the steps most, then anything that makes them harder to read.
    private func size(_ program: Program) -> Int {
        var size = program.fillsAtEnd ? 1 : 0
        func add(_ steps: [Step]) {
            for step in steps {
                size +=
                    1000 + step.operands.count * 10 + step.number / 10 + (step.number > 1 ? 1 : 0)
                    + (step.number > 0 ? 1 : 0)
                if step.executor != .immediate { size += 20 }
                if step.outcome != .number(0) { size += 20 }
                if step.failsOnCancel { size += 20 }
                if step.isCore { size += 5 }
                add(step.steps)
            }
        }
        add(program.steps)
        add(program.executorSteps)
        return size
    }

    private func identifiers(_ program: Program) -> [Int] {
        var ids: [Int] = []
        func add(_ steps: [Step]) {
            for step in steps {
                ids.append(step.id)
                add(step.steps)
            }
        }
        add(program.steps)
        add(program.executorSteps)
        return ids
    }

    private func remove(_ ids: Set<Int>, from program: Program) -> Program {
        map(program) { step in ids.contains(step.id) ? nil : step }
    }

    private func change(_ id: Int, in program: Program, _ change: (inout Step) -> Void) -> Program {
        map(program) { step in
            guard step.id == id else { return step }
            var step = step
            change(&step)
            return step
        }
    }

    private func map(_ program: Program, _ change: (Step) -> Step?) -> Program {
        func map(_ steps: [Step]) -> [Step] {
            steps.compactMap { step in
                var step = step
                step.steps = map(step.steps)
                return change(step)
            }
        }
        var program = program
        program.steps = map(program.steps)
        program.executorSteps = map(program.executorSteps)
        return program
    }
}
