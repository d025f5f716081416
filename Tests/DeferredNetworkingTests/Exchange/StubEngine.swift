import DeferredCore
import Foundation
import TestSupport

@testable import DeferredNetworking

/// An engine whose tasks a test makes, and whose events it sends.
final class StubEngine: Engine {
    let defaultHeaders: [String: String]
    let invalidated = Future<Void>.never
    let hasTimeouts = false
    private let make: @Sendable (CheckedRequest, Exchange, Int) -> any EngineTask

    init(
        defaultHeaders: [String: String] = [:],
        _ make: @escaping @Sendable (CheckedRequest, Exchange, Int) -> any EngineTask = { _, _, _ in StubTask() }
    ) {
        self.defaultHeaders = defaultHeaders
        self.make = make
    }

    func check(_ url: URL) {}

    func makeTask(for request: CheckedRequest, of exchange: Exchange, as number: Int) -> any EngineTask {
        make(request, exchange, number)
    }

    func invalidate() {}
}

/// Does nothing but note what it is asked for.
final class StubTask: EngineTask {
    let log = Log<String>()

    func resume() { log.add("resume") }
    func cancel() { log.add("cancel") }
    func expire() { log.add("expire") }
    func pause(while isPaused: @escaping @Sendable () -> Bool) {}
    func took(_ count: Int) {}
}
