#if os(Linux)
import DeferredCore
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Look-ups", .ownThread, .timeLimit(.minutes(2)))
struct NameLookUpsTests {
    /// Look-ups that end when the test says so.
    private final class Resolver: Sendable {
        let names = Log<String>()
        private let gate = DispatchSemaphore(value: 0)
        private let outcome: NameLookUps.Outcome

        init(_ outcome: NameLookUps.Outcome) {
            self.outcome = outcome
        }

        func open(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

        func lookUps(limit: Int = 64) -> NameLookUps {
            NameLookUps(limit: limit) { name in
                self.names.add(name)
                self.gate.wait()
                return self.outcome
            }
        }
    }

    private static let silence = NameLookUps.Outcome.failure(LookUpFailure(reason: "silence", isTemporary: true))

    @Test func `all who ask for a name get one look-up's answer`() async throws {
        let resolver = Resolver(.success(["127.0.0.1"]))
        let (lookUps, answers) = (resolver.lookUps(), Log<NameLookUps.Outcome>())
        for _ in 0..<100 { _ = lookUps.addresses(of: "name") { answers.add($0) } }
        guard case .pending(let registration) = lookUps.addresses(of: "name", handler: { answers.add($0) }) else {
            Issue.record("nothing is known yet")
            return
        }
        registration.cancel()
        resolver.open()
        try await eventually { answers.entries.count == 100 }
        #expect(answers.entries.allSatisfy { $0 == .success(["127.0.0.1"]) } && resolver.names.entries == ["name"])
        guard case .known(.success(["127.0.0.1"])) = lookUps.addresses(of: "name", handler: { _ in }) else {
            Issue.record("it is not kept")
            return
        }
    }

    @Test func `threads are no more than the limit`() async throws {
        let resolver = Resolver(.success([]))
        let (lookUps, count) = (resolver.lookUps(limit: 3), Log<Void>())
        for number in 0..<20 { _ = lookUps.addresses(of: "\(number)") { _ in count.add(()) } }
        try await eventually { resolver.names.entries.count == 3 }
        for number in 4...20 {
            resolver.open()
            try await eventually { resolver.names.entries.count == number }
        }
        resolver.open(3)
        try await eventually { count.entries.count == 20 }
    }

    @Test func `requests to a name whose server is silent end at their deadlines, and have one look-up`() async throws {
        let resolver = Resolver(Self.silence)
        let configuration = URLClient.Configuration()
        let engine = try LibcurlEngine(configuration, on: [LibcurlLoop()], lookUps: resolver.lookUps())
        let url = try #require(URL(string: "http://silent.test/"))
        let request = try CheckedRequest(URLRequest(url: url)).fitted(to: engine)
        let sinks = (0..<100).map { _ in EndSink() }
        for sink in sinks {
            let exchange = sink.begin(request, on: RetainedEngine(engine))
            try await eventually { resolver.names.entries.count == 1 }
            exchange.cancel(with: URLError(.timedOut))
            await sink.end.future.ignored().value
        }
        #expect(resolver.names.entries == ["silent.test"])
        // Those that wait when it ends, and those that come a moment later, get its failure.
        let waiting = EndSink()
        _ = waiting.begin(request, on: RetainedEngine(engine))
        resolver.open()
        let failure = await waiting.failure
        #expect(failure?.code == .cannotFindHost)
        #expect(failure?.localizedDescription == "Could not resolve host: silent.test (silence)")
        engine.invalidate()
        await engine.invalidated.value
    }

    @Test func `connections that are given up meanwhile stay for a request whose name is looked up`() async throws {
        let port = try RefusingPort()
        let resolver = Resolver(.success(["127.0.0.1"]))
        let loop = LibcurlLoop()
        let engine = try LibcurlEngine(URLClient.Configuration(), on: [loop], lookUps: resolver.lookUps())
        func request(_ host: String) throws -> CheckedRequest {
            try CheckedRequest(URLRequest(url: #require(URL(string: "https://\(host):\(port.number)/")))).fitted(
                to: engine
            )
        }
        // Makes the connections that an origin's new ones take the place of.
        let first = EndSink()
        _ = first.begin(try request("127.0.0.1"), on: RetainedEngine(engine))
        #expect(await first.failure != nil)
        let named = try request("name.test")
        let dead = LibcurlConnections.Dead(
            origin: LibcurlTask.key(of: named.url),
            localPort: 1,
            host: "127.0.0.1",
            port: 1,
            silence: .seconds(1),
            isShared: true
        )
        _ = loop.submit(.distrust(engine.options, dead))
        let sink = EndSink()
        _ = sink.begin(named, on: RetainedEngine(engine))
        try await eventually { resolver.names.entries == ["name.test"] }
        for _ in 0..<3 { _ = loop.submit(.distrust(engine.options, dead)) }
        resolver.open()
        #expect(await sink.failure?.code == .cannotConnectToHost)
        engine.invalidate()
        await engine.invalidated.value
    }

    @Test func `the system looks names up by getaddrinfo`() async throws {
        let answers = Log<NameLookUps.Outcome>()
        for name in ["127.0.0.1", "nowhere.invalid"] {
            if case .known(let outcome) = NameLookUps.shared.addresses(of: name, handler: { answers.add($0) }) {
                answers.add(outcome)
            }
        }
        try await eventually { answers.entries.count == 2 }
        #expect(answers.entries.contains(.success(["127.0.0.1"])))
        #expect(
            answers.entries.contains { if case .failure(let failure) = $0 { !failure.reason.isEmpty } else { false } }
        )
    }

    @Test func `families take turns, and addresses that were silent come last`() {
        let lookUps = NameLookUps(limit: 1) { _ in Self.silence }
        #expect(lookUps.inOrder(["::1", "::2", "::3", "10.0.0.1"]) == ["::1", "10.0.0.1", "::2", "::3"])
        #expect(lookUps.inOrder(["10.0.0.1", "10.0.0.2"]) == ["10.0.0.1", "10.0.0.2"] && lookUps.inOrder([]) == [])
        lookUps.noteSilent(["::1", "10.0.0.1"])
        #expect(lookUps.inOrder(["::1", "::2", "10.0.0.1"]) == ["::2", "::1", "10.0.0.1"])
    }
}

private final class EndSink: Sendable {
    let end = Deferred<Result<ResponseHead, any Error>>()

    var failure: URLError? {
        get async {
            if case .failure(let error) = await end.value { error as? URLError } else { nil }
        }
    }

    func begin(_ request: CheckedRequest, on retained: RetainedEngine) -> Exchange {
        .gather(request, on: retained) { [end] in end.fill(with: $0.map(\.1)) }
    }
}
#endif
