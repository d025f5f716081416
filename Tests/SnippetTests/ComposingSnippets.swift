// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/Composing.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 15)
struct Person: Sendable, Equatable { var name: String; var friends: [Int] }
enum LookupError: Error { case unknown(Int) }
func person(_ id: Int) -> Task<Person> {
    switch id {
    case 1: .success(Person(name: "Ada", friends: [2, 3]))
    case 2: .success(Person(name: "Grace", friends: [1]))
    default: .failure(LookupError.unknown(id))
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 42)
func countdown(from number: Int) -> Task<String> {
    number == 0 ? .success("lift-off") : Task.success(number - 1).flatMap { countdown(from: $0) }
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ComposingSnippets {
    @Test func `In sequence`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 26)



        let name = person(1).map { $0.name }
        let friend = person(1).flatMap { person($0.friends[0]) }

        print(try await name.value, try await friend.value.name)  // Ada Grace
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 47)
        #expect(try await countdown(from: 10_000).value == "lift-off")
#sourceLocation()
    }

    @Test func `Between futures and tasks`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 57)
        let id = Deferred<Int>()
        let owner = Task(succeedsFrom: id).flatMap { person($0) }
        id.fill(with: 2)

        print(try await owner.value.name)  // Grace
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 64)
        #expect(try await owner.value.name == "Grace")
#sourceLocation()
    }

    @Test @MainActor func `Where closures run`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 74)
        let data = Task.success(Data("5, 7, 11".utf8))
        let numbers = data.map(on: .any()) { data in
            String(decoding: data, as: UTF8.self).split(separator: ", ").compactMap { Int($0) }
        }
        numbers.uponSuccess(on: .mainActor) { print("shown: \($0)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 81)
        #expect(try await numbers.value == [5, 7, 11])
#sourceLocation()
    }

    @Test func `Failures`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 89)
        let friend = person(9)
            .fallback { _ in person(2) }
            .map { $0.name }
            .recover { error in
                if error.isCancellation { throw error }
                return "nobody"
            }
        print(try await friend.value)  // Grace
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 99)
        #expect(try await friend.value == "Grace")
#sourceLocation()
    }

    @Test func `In parallel`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 125)
        let both = [1, 2].map { person($0) }.allSucceeded()
        print(try await both.value.map(\.name))  // ["Ada", "Grace"]

        let either = [person(9), person(2)].firstSucceeded()
        print(try await either.value.name)  // Grace

        let (user, count) = (Deferred<String>(), Deferred<Int>())
        let line = zip(user, count).map { "\($0): \($1)" }
        user.fill(with: "Ada")
        count.fill(with: 2)
        print(await line.value)  // Ada: 2
#sourceLocation()
    }

    @Test func `One task, several readers`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 144)
        let promise = Task<Int>.Promise()
        let work = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        let (one, other) = (work.shared(), work.shared())

        one.cancel()
        print(work.isCancelled)  // false: the other one still waits
        other.cancel()
        print(work.isCancelled)  // true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 154)
        #expect(work.isCancelled && one.isFilled && other.isFilled)
#sourceLocation()
    }

    @Test func `Time`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 160)
        let clock = ContinuousClock()
        let slow = Task<Int>.never.timeout(after: .milliseconds(10), clock: clock)  // fails with TimeoutError, and cancels
        let late = Task.success(1).delay(for: .milliseconds(1))

        let attempts = Task.retry(RetryPolicy(attempts: 3, base: .milliseconds(1))) { attempt in
            attempt < 3 ? .failure(LookupError.unknown(attempt)) : person(1)
        }
        print(try await late.value, try await attempts.value.name)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 170)
        await #expect(throws: TimeoutError.self) { try await slow.value }
#sourceLocation()
    }

    @Test @MainActor func `The latest only`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 183)
        func find(_ text: String) -> Task<[String]> {
            Task.success(["result for \(text)"]).delay(for: .milliseconds(1))
        }

        let search = LatestTask<[String]>()
        let shown = Deferred<[String]>()
        search.start(find("sw"), on: .mainActor) { _ in print("never called") }
        search.start(find("swift"), on: .mainActor) { result in
            shown.fill(with: (try? result.get()) ?? [])
        }
        print(await shown.value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Composing.md", line: 196)
        #expect(await shown.value == ["result for swift"])
#sourceLocation()
    }
}
