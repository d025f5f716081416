// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/WhatCancellingMeans.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct WhatCancellingMeansSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md", line: 16)



        let promise = Task<Int>.Promise()
        let work = Task(promise, uponCancel: { promise in
            promise.fail(with: CancellationError())
        })
        let text = work.map { "never called with \($0)" }

        text.cancel()
        print(work.isCancelled)  // true: it went up
        print(text.isFilled)     // true: it has failed with CancellationError
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md", line: 30)
        #expect(work.isCancelled && text.isFilled && work.isFilled)
#sourceLocation()
    }

    @Test func `One signal for many`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md", line: 145)
        let source = CancellationTokenSource()
        let first = Task<Int>.never.cancelled(by: source.token)
        let second = Task { try await Task.sleep(for: .seconds(60)) }.cancelled(by: source.token)

        let registration = source.token.register { print("closing the file") }
        source.cancel()
        print(first.isCancelled, second.isCancelled)  // true true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md", line: 154)
        #expect(first.isCancelled && second.isCancelled)
        registration.cancel()
#sourceLocation()
    }

    @Test func `Tell a cancellation from a failure`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md", line: 168)
        let task = Task<Int>.failure(URLError(.cancelled))
        task.uponFailure(on: .immediate) { error in
            if error.isCancellation { return }  // intended
            print("sorry: \(error.localizedDescription)")
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md", line: 175)
        #expect(URLError(.cancelled).isCancellation && CancellationError().isCancellation)
#sourceLocation()
    }
}
