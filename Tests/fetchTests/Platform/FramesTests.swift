import Dispatch
import TestSupport
import Testing

@testable import fetch

@Suite("Frames", .ownThread, .timeLimit(.minutes(1)))
struct FramesTests {
    private struct Entry: Hashable {
        let thread: Int
        let number: Int
    }

    /// Under ThreadSanitizer, this also checks that submitting is no race, neither for Swift nor for the sanitizer.
    @Test func `what many threads submit runs once, in the order of each thread, and nothing is left behind`() async {
        let frames = await MainActor.run { Frames() }
        let log = Log<Entry>()
        await frames.start {}
        race(4) { thread in
            for number in 0..<1_000 {
                frames.submit {
                    MainActor.preconditionIsolated()
                    log.add(Entry(thread: thread, number: number))
                }
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                MainActor.assumeIsolated { frames.stop() }
                continuation.resume()
            }
        }
        for thread in 0..<4 {
            #expect(log.entries.filter { $0.thread == thread }.map(\.number) == Array(0..<1_000))
        }
    }
}
