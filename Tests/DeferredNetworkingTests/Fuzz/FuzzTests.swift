import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

/// Sends generated responses through every door.
///
/// Seeds are the same in each run; a failure names its seed. These environment variables choose others:
/// - `FUZZ_RESPONSES`: The number of responses for each door in each of the two runs.
/// - `FUZZ_SEED`: The first seed, and the only one unless `FUZZ_RESPONSES` says how many follow, whatever their doors.
///
/// Each block of seeds has a separate process: if a seed crashes it, the failing case names the door and the block, to
/// be bisected with the two variables. A single response is printed.
@Suite(.serialized, .ownThreadInSeries, .timeLimit(.minutes(10)))
struct FuzzTests {
    struct Block: Codable, Sendable, CustomTestStringConvertible {
        var door: FuzzDoor
        var first: Int
        var count: Int

        var testDescription: String {
            "\(door), seeds from \(first) on, \(count) in steps of \(FuzzDoor.allCases.count)"
        }

        /// Describes the block and, if it has a single response, that response.
        func description(_ kind: ResponseGenerator.Kind) -> String {
            guard count == 1 else { return testDescription }
            let response = ResponseGenerator.response(first, kind, authority: "127.0.0.1:80")
            return "FUZZ_SEED=\(first) (\(kind), \(door)): \(response.printable)"
        }

        var seeds: [Int] { (0..<count).map { first + $0 * FuzzDoor.allCases.count } }
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    /// The number of responses for each door; smaller under a sanitizer, where each takes many times as long. The gate
    /// sends many more in a separate run.
    private static let perDoor = isSanitized ? 200 : 250
    private static let blockSize = 500

    static let hostileBlocks = blocks(perDoor: perDoor)
    static let validBlocks = blocks(perDoor: perDoor / 2)

    private static func blocks(perDoor: Int) -> [Block] {
        let doors = FuzzDoor.allCases.count
        if let seed = number("FUZZ_SEED") {
            let last = seed + max(1, number("FUZZ_RESPONSES") ?? 1)
            return (seed..<min(last, seed + doors)).compactMap { first in
                FuzzDoor.of(seed: first).map {
                    Block(door: $0, first: first, count: (last - first + doors - 1) / doors)
                }
            }
        }
        let count = max(1, number("FUZZ_RESPONSES") ?? perDoor)
        return FuzzDoor.allCases.flatMap { door in
            stride(from: 0, to: count, by: blockSize).map { start in
                Block(door: door, first: start * doors + door.rawValue, count: min(blockSize, count - start))
            }
        }
    }

    private static func run(_ block: Block, _ kind: ResponseGenerator.Kind) async throws {
        let flaws = try await FuzzRun(block.door, kind).check(block.seeds)
        for flaw in flaws.prefix(10) { Issue.record("\(flaw)") }
        if flaws.count > 10 { Issue.record("\(flaws.count - 10) more in this block") }
    }

    #if os(macOS) || os(Linux)
    @Test(arguments: hostileBlocks)
    func `hostile responses end each request once, and none passes for whole that isn't`(block: Block) async {
        await #expect(processExitsWith: .success, "\(block.description(.hostile))") { [block] in
            try await Self.run(block, .hostile)
        }
    }

    @Test(arguments: validBlocks)
    func `valid responses come byte for byte`(block: Block) async {
        await #expect(processExitsWith: .success, "\(block.description(.valid))") { [block] in
            try await Self.run(block, .valid)
        }
    }
    #endif
}
