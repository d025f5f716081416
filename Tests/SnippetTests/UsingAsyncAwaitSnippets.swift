// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/UsingAsyncAwait.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 130)
actor Account {
    private(set) var balance = 0

    func deposit(_ amount: Int) { balance += amount }

    nonisolated func depositLater(_ amount: Future<Int>) -> Task<Void> {
        Task { await self.deposit(amount.value) }
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 178)
#if canImport(Combine)
import Combine

typealias Future = DeferredCore.Future

func greet(_ name: Future<String>, in subscriptions: inout Set<AnyCancellable>) {
    name.publisher.sink { print("Hello, \($0)") }.store(in: &subscriptions)
}
#endif
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct UsingAsyncAwaitSnippets {
    @Test func `From a task to await`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 22)



        func size(of request: Task<Data>) async throws -> Int {
            try await request.get().count  // cancelling this function cancels the request
        }

        print(try await size(of: .success(Data([1, 2, 3]))))  // 3
#sourceLocation()
    }

    @Test func `From await to a task`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 41)
        func answer() async throws -> Int {
            try await Task.sleep(for: .milliseconds(1))
            return 42
        }

        let text = Task { try await answer() }
            .map { "The answer is \($0)" }
            .timeout(after: .seconds(60))
        print(try await text.value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 52)
        #expect(try await text.value == "The answer is 42")
#sourceLocation()
    }

    @Test func `The name Task`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 91)
        typealias SwiftTask = _Concurrency.Task

        let theirs = SwiftTask { 1 }
        let ours = Task { await theirs.value + 1 }
        print(try await ours.value)  // 2
#sourceLocation()
    }

    @Test @MainActor func `The main actor`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 108)
        @MainActor final class Screen {
            var text = ""
        }

        let screen = Screen()
        let name = Task { "Ada" }
        let shown = name.map(on: .mainActor) { screen.text = $0 }
        try await shown.value
        print(screen.text)  // Ada
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 119)
        #expect(screen.text == "Ada")
#sourceLocation()
    }

    @Test func `Actors`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 142)
        let account = Account()
        let amount = Deferred<Int>()
        let deposit = account.depositLater(amount.future)
        amount.fill(with: 100)
        try await deposit.value
        print(await account.balance)  // 100
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/UsingAsyncAwait.md", line: 150)
        #expect(await account.balance == 100)
#sourceLocation()
    }
}
