import DeferredCore
import Foundation
import Synchronization

/// Runs programs on the library and on the model, and compares the events.
enum Machine {
    /// Returns a description of the first difference, or `nil`.
    static func check(_ program: Program) -> String? {
        let counts = Counts(steps: program.count, isThreaded: false)
        let onLibrary = Runner(program, LibraryUniverse(counts))
        onLibrary.run()
        let onModel = Runner(program, ModelUniverse(Counts(steps: program.count, isThreaded: false)))
        onModel.run()
        if let difference = difference(onLibrary.trace, onModel.trace) { return difference }
        let (captures, values) = (counts.captures.load(ordering: .relaxed), counts.payloads.load(ordering: .relaxed))
        if captures != 0 || values != 0 {
            return "\(captures) captures and \(values) values alive at the end: \(ids(counts.alive))"
        }
        return nil
    }

    /// Finds the first program that fails; returns it in shrunk form, with the failure.
    static func firstFailure(in seeds: Range<UInt64>) -> String? {
        for seed in seeds {
            var generator = Generator(seed: seed)
            let program = generator.program()
            guard let first = check(program) else { continue }
            let small = Shrinker { check($0) != nil }.shrink(program)
            return "RANDOM_SEED=\(seed): \(check(small) ?? first)\n\(small.source)"
        }
        return nil
    }

    /// Describes the first difference.
    private static func difference(_ library: [Event], _ model: [Event]) -> String? {
        if library.count == model.count, zip(library, model).allSatisfy({ agree($0, $1) }) { return nil }
        var index = 0
        while index < min(library.count, model.count), agree(library[index], model[index]) { index += 1 }
        let step = library[..<min(index, library.count)].last { $0.kind == .step }.map { "\($0.step)" } ?? "-"
        let (one, other) = (library.dropFirst(index).first, model.dropFirst(index).first)
        if let one, let other, one.kind == .alive, other.kind == .alive, one.step == other.step {
            let late = UInt64(UInt(bitPattern: one.value)) & ~UInt64(UInt(bitPattern: other.value))
            return
                "after step \(step), the library keeps captures of \(ids([late], from: Int(one.step) * 64)), the model doesn't"
        }
        return "in step \(step), the library has \(describe(one)), the model has \(describe(other))"
    }

    /// Returns true if an event of the library agrees with the model's. The library may release objects earlier.
    private static func agree(_ library: Event, _ model: Event) -> Bool {
        if library == model { return true }
        return library.kind == .alive && model.kind == .alive && library.step == model.step
            && library.value & ~model.value == 0
    }

    private static func describe(_ event: Event?) -> String {
        guard let event else { return "nothing more" }
        return "\(event.kind) of \(event.step) with \(event.value)"
    }

    private static func ids(_ words: [UInt64], from first: Int = 0) -> [Int] {
        words.enumerated().flatMap { index, word in
            (0..<64).filter { word >> UInt64($0) & 1 == 1 }.map { first + index * 64 + $0 }
        }
    }

    /// Runs `body` on a separate thread, with a stack like the main thread's.
    static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: body()) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
