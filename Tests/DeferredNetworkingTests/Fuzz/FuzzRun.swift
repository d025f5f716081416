import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends the requests of seeds through one door, many at once on one client, and judges how each ended.
final class FuzzRun: Sendable {
    enum Outcome: Sendable {
        case body(Data, FuzzHead)
        case decoded(FuzzEntity)
        case failure(any Error)
    }

    private static let inFlight = 32

    private let door: FuzzDoor
    private let kind: ResponseGenerator.Kind
    private let server: LoopbackServer
    private let client: URLClient
    private let session: URLSession
    private let folder: TemporaryDirectory
    private let finished = Log<Bool>()
    private let events = Log<URLClient.Event>()
    private let flaws = Log<String>()

    /// The seeds of the requests that the server received.
    private let requests: Log<Int>
    private let outcomes = Log<(seed: Int, outcome: Outcome, partial: Int?)>()
    private let leftWaiting = Atomic(0)

    init(_ door: FuzzDoor, _ kind: ResponseGenerator.Kind) throws {
        self.door = door
        self.kind = kind
        let requests = Log<Int>()
        self.requests = requests
        server = try LoopbackServer(requestLogLimit: 0) { Self.answer($0, kind, requests) }
        folder = try TemporaryDirectory()
        let (events, finished) = (events, finished)
        client = URLClient.fresh {
            $0.maximumConnectionsPerHost = Self.inFlight
            $0.retries = URLClient.Retries()
            $0.retries.attempts = 2
            $0.retries.base = .zero
            $0.monitor = { event in
                events.add(event)
                if case .finished(let error) = event.kind { finished.add(error == nil) }
            }
        }
        session = URLSession.fresh {
            $0.httpMaximumConnectionsPerHost = Self.inFlight
            // Otherwise, the cookies of responses would go out with the requests of other tests of this process.
            $0.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
        }
    }

    private static func answer(
        _ request: LoopbackServer.Request,
        _ kind: ResponseGenerator.Kind,
        _ requests: Log<Int>
    ) -> LoopbackServer.Script {
        let parts = request.path.split(separator: "/")
        guard let seed = parts.first.flatMap({ Int($0) }), seed >= 0 else {
            return .response(body: .bytes(ResponseGenerator.elsewhere))
        }
        requests.add(seed)
        let response = ResponseGenerator.response(seed, kind, authority: request.headers["Host"] ?? "")
        if parts.count > 1 { return (response.next ?? response.first).script }
        if request.headers["If-Range"] != nil, let continuation = response.continuation,
            let offset = request.headers["Range"].flatMap({ Int($0.filter(\.isNumber)) })
        {
            return continuation(offset).script
        }
        return response.first.script
    }

    /// - Returns: The flaws, with at least one line for each seed that failed.
    func check(_ seeds: [Int]) async throws -> [String] {
        await withTaskGroup { group in
            for worker in 0..<Self.inFlight {
                group.addTask {
                    for index in stride(from: worker, to: seeds.count, by: Self.inFlight) {
                        await self.check(seed: seeds[index])
                    }
                }
            }
        }
        // A deadline ends the task at once; the clean-up of the transfer follows.
        try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
        if door.usesClient { try await eventually { finished.entries.count >= seeds.count } }
        if finished.entries.count != (door.usesClient ? seeds.count : 0) {
            flaws.add("\(finished.entries.count) ends of \(seeds.count) requests")
        }
        session.invalidateAndCancel()
        server.stop()
        return flaws.entries
    }

    /// Returns the outcomes by seed, without judging them.
    func outcomes(of seeds: [Int]) async throws -> [Int: String] {
        _ = try await check(seeds)
        let counts = Dictionary(requests.entries.map { ($0, 1) }, uniquingKeysWith: +)
        var result: [Int: String] = [:]
        for (seed, outcome, partial) in outcomes.entries {
            result[seed] =
                outcome.recorded(requests: counts[seed] ?? 0, port: server.port)
                + (partial.map { " partial \($0)b" } ?? "")
        }
        return result
    }

    private func check(seed: Int) async {
        let response = ResponseGenerator.response(seed, kind, authority: "127.0.0.1:\(server.port)")
        let file = folder.url.appending(path: "\(seed)")
        let ends = Log<Void>()
        let heads = Log<ResponseHead>()
        let outcome: Outcome
        do {
            outcome = try await receive(response, seed: seed, file: file, ends, heads)
        } catch {
            outcome = .failure(error)
        }
        var flaw = response.isValid ? flawOfValid(response, outcome) : flawOfHostile(response, outcome)
        // Two attempts, each with up to five redirects.
        if heads.entries.count > 16 * 12 || heads.entries.contains(where: { !$0.status.isInterim || $0.status == 100 })
        {
            flaw = "interim heads \(heads.entries.map(\.status.code))"
        }
        // The result can be read a moment before the handlers run.
        try? await eventually { !ends.entries.isEmpty }
        if ends.entries.count != 1 { flaw = "\(ends.entries.count) ends" }
        // A deadline may come while the complete file is put in its place.
        if case .failure = outcome, door.isDownload, let body = try? Data(contentsOf: file),
            !response.bodies.contains(body)
        {
            flaw = "a file after a failure"
        }
        let partial = folder.url.appending(path: "\(seed).partial").path
        let attributes = try? FileManager.default.attributesOfItem(atPath: partial)
        outcomes.add((seed, outcome, attributes?[.size] as? Int))
        for name in ["\(seed)", "\(seed).partial"] {
            try? FileManager.default.removeItem(at: folder.url.appending(path: name))
        }
        guard let flaw else { return }
        flaws.add("FUZZ_SEED=\(seed) (\(kind), \(door)): \(flaw). \(response.printable)")
        for event in events.entries.map({ "\($0)" })
        where event.contains("/\(seed)\"") || event.contains("/\(seed)/") {
            flaws.add("  \(event)")
        }
    }

    // MARK: Doors

    private func receive(
        _ response: FuzzResponse,
        seed: Int,
        file: URL,
        _ ends: Log<Void>,
        _ heads: Log<ResponseHead>
    ) async throws -> Outcome {
        var request = URLRequest(url: server.url("/\(seed)"))
        request.httpMethod = door.isUpload ? (seed / 8 % 2 == 0 ? "PUT" : "POST") : response.method ?? "GET"
        request.setValue(response.range, forHTTPHeaderField: "Range")
        var options = URLClient.RequestOptions()
        // A response that doesn't stall must end by itself, however busy the machine is.
        options.total = response.stalls ? .milliseconds(200) : .seconds(60)
        request.timeoutInterval = response.stalls && !door.usesClient ? 1 : 60
        if isLibcurlTested { options.onInterimResponse = { heads.add($0) } }
        let upload = Data("upload".utf8)
        // Both ways at once, for half of them: the body goes on when the response may have come.
        let body: URLClient.UploadBody =
            seed / 16 % 2 == 0
            ? .data(upload)
            : .stream {
                AsyncStream(unfolding: { [rest = Lock(upload[...])] in
                    await _Concurrency.Task.yield()
                    return rest.withLock { $0.popFirst() }.map { Data([$0]) }
                })
            }
        func counted<T>(_ task: Task<T>) -> Task<T> {
            task.upon(.immediate) { _ in ends.add(()) }
            return task
        }
        switch door {
        case .begin:
            let (body, head) = try await counted(client.begin(request, options: options)).get()
            for field in head.trailers where !TrailerGrammar.allows(field.name) { throw URLError(.unknown) }
            return .body(body, FuzzHead(head))
        case .upload:
            let (body, head) = try await counted(client.upload(request, from: body, options: options)).get()
            return .body(body, FuzzHead(head))
        case .download:
            let task = counted(client.download(request, to: file, resuming: seed / 8 % 4 != 0, options: options))
            let (_, head) = try await task.get()
            return .body(try Data(contentsOf: file), FuzzHead(head))
        case .stream:
            let stream = try await counted(client.stream(request, options: options)).get()
            var body = Data()
            for try await bytes in stream.body { body += bytes }
            return .body(body, FuzzHead(stream.head))
        case .decode:
            return .decoded(try await counted(client.decode(FuzzEntity.self, from: request, options: options)).get())
        case .dataTask:
            let (body, head) = try await counted(session.beginDataTask(with: request)).get()
            return .body(body, FuzzHead(head))
        case .downloadTask:
            let (_, head) = try await counted(session.beginDownloadTask(with: request, to: file)).get()
            return .body(try Data(contentsOf: file), FuzzHead(head))
        case .uploadTask:
            let (body, head) = try await counted(session.beginUploadTask(with: request, from: upload)).get()
            return .body(body, FuzzHead(head))
        }
    }

    // MARK: Judgement

    private func flawOfValid(_ response: FuzzResponse, _ outcome: Outcome) -> String? {
        guard let right = response.bodies.first else { return "a valid response without a body" }
        let isSuccess = (200..<300).contains(response.status)
        switch outcome {
        case .body(let body, let head):
            let status = head.status
            guard status == response.status, isSuccess || !door.refusesStatuses else { return "the status \(status)" }
            return body == right ? nil : "another body, of \(body.count) bytes of \(right.count)"
        case .decoded(let entity):
            return isSuccess && entity.data == right ? nil : "another value"
        case .failure(let error as URLClientError):
            guard !isSuccess, door.refusesStatuses, case .unacceptableStatus(response.status, let body) = error.code,
                body == right.prefix(64 << 10)
            else { return "\(error)" }
            return nil
        case .failure(is DecodingError):
            return isSuccess && door == .decode && right.isEmpty ? nil : "a decoding error"
        case .failure(let error):
            return "\(error)"
        }
    }

    /// Returns true once per run over `URLSession`, which left one of some 100,000 requests without an end after a
    /// reset; its deadline ended that one. libcurl leaves none.
    ///
    /// The cause is below: of 60,000 requests over a bare `URLSession` on a busy machine, each answered with a piece of
    /// its body and a reset, 14 heard of neither until their time-out. Dispatch forgets a socket that hangs up while a
    /// source is added for it (https://github.com/swiftlang/swift-corelibs-libdispatch/issues/833), and then the next
    /// connections with the same descriptor.
    private func isFirstLeftWaiting() -> Bool {
        !isLibcurlTested && leftWaiting.wrappingAdd(1, ordering: .relaxed).oldValue == 0
    }

    private func flawOfHostile(_ response: FuzzResponse, _ outcome: Outcome) -> String? {
        switch outcome {
        case .body(let body, let head):
            let status = head.status
            if door.refusesStatuses, !(200..<300).contains(status) { return "the status \(status) for a success" }
            // A redirect that leads nowhere is delivered: over libcurl with its body, over URLSession without.
            if (300..<400).contains(status), body.isEmpty || body == response.first.body { return nil }
            return response.accepts(body) ? nil : "a body that nobody framed, of \(body.count) bytes"
        case .decoded(let entity):
            return response.accepts(entity.data) ? nil : "a value that nobody framed"
        case .failure(let error):
            if let error = error as? URLClientError, error.code == .deadlineExceeded {
                return response.stalls || isFirstLeftWaiting() ? nil : "left waiting, \(error)"
            }
            guard let code = (error as? URLError)?.code else {
                return error is URLClientError || error is DecodingError ? nil : "the error \(error)"
            }
            switch code {
            case .timedOut: return response.stalls ? nil : "left waiting, \(error)"
            case .cancelled, .unknown: return "the error \(error)"
            default: return nil
            }
        }
    }
}
