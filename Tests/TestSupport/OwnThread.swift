package import Testing

/// Runs each test of a suite on a separate thread, which the test may block, and only a few tests at a time.
///
/// Every suite has this trait: `@Suite(.ownThread, .timeLimit(.minutes(1)))`. A time limit does not count the time in
/// which a test waits for its turn. The cases of a test with arguments run one after the other.
package struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    fileprivate let kind: Turns.Kind

    package var isRecursive: Bool { true }

    @TaskLocal private static var hasTurn = false
    @TaskLocal private static var hasThread = false

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        // A suite that took a turn would wait for its own tests, which could get none.
        test.isSuite ? nil : self
    }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if testCase != nil {
            try await onThread(function)
        } else {
            try await inTurn(test, function)
        }
    }

    /// The kind that the test or one of its suites asks for.
    static func kind(of test: Test) -> Turns.Kind {
        let kinds = test.traits.compactMap { ($0 as? OwnThread)?.kind }
        return [.alone, .serialized].first(where: kinds.contains) ?? .normal
    }

    /// Waits for a turn outside of the time limit, which applies to each case separately.
    private func inTurn(_ test: Test, _ function: @concurrent @Sendable () async throws -> Void) async throws {
        // A suite within a suite has the trait twice.
        if Self.hasTurn { return try await function() }
        let oneByOne: ParallelizationTrait = .serialized
        try await Turns.shared.take(Self.kind(of: test)) {
            try await Self.$hasTurn.withValue(true) {
                try await oneByOne.provideScope(for: test, testCase: nil, performing: function)
            }
        }
    }

    private func onThread(_ function: @concurrent @Sendable () async throws -> Void) async throws {
        if Self.hasThread { return try await function() }
        try await Self.$hasThread.withValue(true) {
            try await withTaskExecutorPreference(TestThreads.shared) { @concurrent in try await function() }
        }
    }
}

extension Trait where Self == OwnThread {
    /// Runs each test on a separate thread, which the test may block.
    package static var ownThread: Self { OwnThread(kind: .normal) }

    /// Does the same for a suite that is `.serialized`: its tests go before those of others, since each holds up the next.
    ///
    /// The trait `.serialized` itself can't tell, as tests don't inherit it.
    package static var ownThreadInSeries: Self { OwnThread(kind: .serialized) }

    /// Does the same as `ownThread` after all other tests, and while none of them runs: for tests of state that the whole
    /// process shares.
    package static var alone: Self { OwnThread(kind: .alone) }
}
