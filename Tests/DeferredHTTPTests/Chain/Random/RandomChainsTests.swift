import Foundation
import TestSupport
import Testing

/// Random chains do on the library what the documentation says, in the words of ``ChainModel``.
///
/// `CHAIN_SCENARIOS` is the number of scenarios, `CHAIN_SEED` the first seed; a seed makes the same scenario each time.
@Suite(.ownThread, .timeLimit(.minutes(30)))
struct RandomChainsTests {
    private static let parts = 4

    private static func seeds(of standard: Int, part: Int) -> Range<Int> {
        let (count, first) = (number("CHAIN_SCENARIOS") ?? standard, number("CHAIN_SEED") ?? 0)
        return first + count * part / parts..<first + count * (part + 1) / parts
    }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: 0..<parts)
    func `random chains do on the library what they do on the model`(part: Int) async {
        // The model calls a function for each link of each attempt.
        await onThread(stackSize: 16 << 20) { Self.compare(part) }
    }

    private static func compare(_ part: Int) {
        for number in seeds(of: 4_000, part: part) {
            let scenario = ScenarioGenerator.scenario(seed: UInt64(number))
            guard let failure = ScenarioCheck().failure(of: scenario) else { continue }
            let shrinker = ScenarioShrinker { ScenarioCheck(patience: .milliseconds(500)).failure(of: $0) }
            let (smallest, how) = shrinker.shrink(scenario, failure)
            Issue.record("CHAIN_SEED=\(number) CHAIN_SCENARIOS=1\n\(smallest)\n  \(how)")
            return
        }
    }

    @Test(arguments: 0..<parts)
    func `random chains on several threads end each request and each reset once, and keep nothing`(part: Int) {
        for number in Self.seeds(of: 1_000, part: part) {
            let scenario = ScenarioGenerator.scenario(seed: UInt64(number))
            guard let failure = ThreadedCheck(scenario).failure() else { continue }
            Issue.record("CHAIN_SEED=\(number) CHAIN_SCENARIOS=1\n\(scenario)\n  \(failure)")
            return
        }
    }
}
