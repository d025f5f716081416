import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

/// Compares the outcomes of 20,000 generated responses with those that an earlier engine over libcurl had.
///
/// The outcomes are in `Recorded/responses.txt`. `RECORDED_RESPONSES=all` compares all of them instead of some hundreds.
/// `RECORDED_RESPONSES=record` adds the outcomes of three runs, which differ in how many requests share a client; delete
/// the file first to record anew. Record several times, also on a busy machine: what timing decides has several outcomes.
///
/// To see a response, run `FuzzTests` with `FUZZ_SEED`.
@Suite(.serialized, .ownThreadInSeries, .timeLimit(.minutes(10)), .enabledAsRecorded)
struct RecordedResponsesTests {
    private static let mode = ProcessInfo.processInfo.environment["RECORDED_RESPONSES"]

    /// Has no factor in common with the number of doors.
    private static let stride = isSanitized ? 197 : 49

    @Test(arguments: FuzzDoor.allCases, RecordedResponses.kinds.map(\.kind))
    func `responses end as recorded`(door: FuzzDoor, kind: ResponseGenerator.Kind) async throws {
        let count = RecordedResponses.kinds.first { $0.kind == kind }?.count ?? 0
        let seeds = (0..<count).filter { FuzzDoor.of(seed: $0) == door }
        if Self.mode == "record" { return try await record(seeds, door, kind) }
        let recorded = RecordedResponses()
        let chosen = Self.mode == "all" ? seeds : seeds.filter { $0.isMultiple(of: Self.stride) }
        func differences(_ seeds: [Int], blocks size: Int) async throws -> [Int: String] {
            try await outcomes(seeds, door, kind, blocks: size).filter { !recorded.accepts($0.value, kind, $0.key) }
        }
        let first = try await differences(chosen, blocks: 500)
        var again = first.count > 100 ? first : [:]
        // A difference that came from the timing of its neighbours doesn't come again without them.
        for _ in 0..<2 where first.count <= 100 {
            again.merge(try await differences(first.keys.sorted(), blocks: 1)) { old, _ in old }
        }
        for (seed, outcome) in again.sorted(by: { $0.key < $1.key }).prefix(20) {
            let response = ResponseGenerator.response(seed, kind, authority: "127.0.0.1:80")
            Issue.record(
                """
                FUZZ_SEED=\(seed) (\(kind), \(door)), \(response.construct): \(outcome), but recorded is \
                \(recorded.outcomes(kind, seed).joined(separator: " | "))
                """
            )
        }
        if again.count > 20 { Issue.record("\(again.count - 20) more (\(kind), \(door))") }
    }

    private func outcomes(
        _ seeds: [Int],
        _ door: FuzzDoor,
        _ kind: ResponseGenerator.Kind,
        blocks size: Int
    ) async throws -> [Int: String] {
        var result: [Int: String] = [:]
        for start in Swift.stride(from: 0, to: seeds.count, by: size) {
            let block = Array(seeds[start..<min(seeds.count, start + size)])
            result.merge(try await FuzzRun(door, kind).outcomes(of: block)) { $1 }
        }
        return result
    }

    private func record(_ seeds: [Int], _ door: FuzzDoor, _ kind: ResponseGenerator.Kind) async throws {
        var recorded = RecordedResponses()
        for size in [500, 60, 1] {
            for (seed, outcome) in try await outcomes(seeds.shuffled(), door, kind, blocks: size) {
                recorded.add(outcome, kind, seed)
            }
        }
        try recorded.write(version: installedVersion)
    }
}

#if os(Linux)
private let installedVersion = LibcurlEngine.versionNumber == 0 ? "none" : LibcurlEngine.version
#else
private let installedVersion = "none"
#endif

extension Trait where Self == ConditionTrait {
    /// Enables tests over the recorded libcurl, whatever its patch, or if nothing is recorded.
    fileprivate static var enabledAsRecorded: Self {
        let recorded = RecordedResponses().version
        func series(_ version: String) -> [Substring] { Array(version.split(separator: ".").prefix(2)) }
        let isComparable = recorded.isEmpty || series(recorded) == series(installedVersion)
        let engine = isLibcurlTested ? "libcurl \(installedVersion)" : "URLSession"
        return .enabled(if: isLibcurlTested && isComparable, "recorded with libcurl \(recorded), not with \(engine)")
    }
}
