// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/FuturesAndPromises.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 137)
enum ReadError: Error { case noSuchFile }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FuturesAndPromisesSnippets {
    @Test func `Fill once`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 23)



        let answer = Deferred<Int>()
        let won = answer.fill(with: 42)
        let lost = answer.fill(with: 43)
        print(won, lost, answer.peek() ?? 0)  // true false 42
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 32)
        #expect(won && !lost && answer.peek() == 42)
#sourceLocation()
    }

    @Test func `Read as often as you like`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 44)
        let answer = Deferred<Int>()

        // A handler.
        let registration = answer.upon(.any()) { print("the answer is \($0)") }
        // The value now, or nil.
        print(answer.peek() ?? 0)

        answer.fill(with: 42)
        // Waits.
        print(await answer.value)
        // Waits, unless the awaiting task is cancelled.
        print(try await answer.get())
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 58)
        registration.cancel()
#sourceLocation()
    }

    @Test func `Executors`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 85)
        struct Tracing<Base: Executor>: Executor {
            let base: Base

            func submit(_ body: @escaping @Sendable () -> Void) {
                print("submitted")
                base.submit(body)
            }
        }

        let answer = Deferred(filledWith: 42)
        answer.upon(Tracing(base: .immediate)) { print($0) }
#sourceLocation()
    }

    @Test func `Remove a handler`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 105)
        let settings = Deferred<String>()

        func show() -> Registration {
            settings.upon(.main) { print("now showing \($0)") }
        }

        let view = show()
        view.cancel()  // the view has gone
        settings.fill(with: "dark")
        print(view.isCancelled)  // true: it never ran
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 117)
        #expect(view.isCancelled)
#sourceLocation()
    }

    @Test func `Return the read-only end`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 125)
        func loadText() -> Future<String> {
            let text = Deferred<String>()
            DispatchQueue.global().async { text.fill(with: "hello") }
            return text.future
        }
        print(await loadText().value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 140)
        func read(_ path: String) -> Task<String> {
            let promise = Task<String>.Promise()
            let work = DispatchWorkItem {
                guard let data = FileManager.default.contents(atPath: path) else {
                    promise.fail(with: ReadError.noSuchFile)
                    return
                }
                promise.succeed(with: String(decoding: data, as: UTF8.self))
            }
            DispatchQueue.global().async(execute: work)
            return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 154)
        await #expect(throws: ReadError.noSuchFile) { try await read("/no/such/file").value }
#sourceLocation()
    }

    @Test func `Values that are never filled`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 168)
        func lose(_ completion: @escaping @Sendable (Int) -> Void) {}  // never calls it

        func number() -> Task<Int> {
            let promise = Task<Int>.Promise()
            lose { promise.succeed(with: $0) }
            return Task(promise)
        }

        do {
            print(try await number().value)
        } catch {
            print(error)  // get/main.swift:4: the promise was dropped before anybody filled it
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/FuturesAndPromises.md", line: 183)
        await #expect(throws: BrokenPromise.self) { try await number().value }
#sourceLocation()
    }
}
