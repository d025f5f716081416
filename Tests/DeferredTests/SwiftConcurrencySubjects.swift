import Deferred
import Foundation

// Functions for the tests that use the library together with Swift's concurrency.

enum Failure: Error { case custom }

enum Locals {
    @TaskLocal static var number = 0
}

func twice(_ number: Int) async -> Int {
    await Task.yield()
    return number * 2
}

func failing() async throws -> Int { throw Failure.custom }

func isCancelledAtLast() async -> Bool {
    while !Task.isCancelled { await Task.yield() }
    return true
}

@MainActor
final class Model {
    var items: [Int] = []
    private(set) var loading: Task<Void>?

    func load() {
        loading?.cancel()
        loading = Task {
            items.append(1)
            items.append(await twice(1))
            try await Task.sleep(for: .zero)
            append(await twice(2))
        }
    }

    func watch() {
        loading = Task { [weak self] in
            while true {
                try await Task.sleep(for: .nanoseconds(1))
                self?.items.removeAll()
            }
        }
    }

    deinit { loading?.cancel() }

    private func append(_ item: Int) { items.append(item) }
}

actor Account {
    private(set) var deposits: [Int] = []

    func deposit(_ amounts: ClosedRange<Int>) -> Task<Void> {
        for amount in amounts { Task { deposits.append(amount) } }
        return Task { assertIsolated() }
    }

    func depositLater(_ amount: Int) -> Task<Int> {
        Task {
            deposits.append(await twice(amount) - amount)
            return deposits.last ?? 0
        }
    }
}

final class Box {
    private var count = 0

    func increment() -> Int {
        count += 1
        return count
    }
}
