import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredNetworking
import Foundation
import TestSupport

@testable import DeferredTesting

/// A server whose responses tell what they are of, so that any of them can be recognised.
///
/// The answer to each request depends on random settings of its resource, which change with each version.
final class ModelOrigin: Sendable {
    enum Validator: CaseIterable, Sendable { case none, strong, weak, date }

    struct Resource: Sendable {
        var version = 1
        var validator = Validator.strong
        var directives = "max-age=10"
        var varies = false
        var size = 100
        var hasLength = true
        var hasRanges = true
        var isCut = false
    }

    struct State: Sendable {
        var resources: [String: Resource] = [:]
        /// What the server does instead of answering.
        var outage: StubLoader.Answer?
        /// The requests that came.
        var asked: Set<UUID> = []
        /// The number of the last response.
        var time = 0
        /// Responses that are made and wait to be sent, by request. A copy of a request, which renews what is stored, has
        /// the same identifier.
        var held: [UUID: [StubLoader.Answer]] = [:]
        /// Bodies of which a part is still to be sent.
        var bodies: [Body] = []
    }

    /// The rest of a body that is sent bit by bit.
    struct Body: Sendable {
        let path: String
        let continuation: AsyncStream<Data>.Continuation
        var rest: [Data]
    }

    /// Shared with the closure of the stub.
    final class Storage: Sendable { let state = Lock(State()) }

    let storage = Storage()
    let stub: StubLoader

    init() {
        stub = StubLoader(answering: { [storage] request in
            storage.state.withLock { state in
                state.asked.insert(request.id)
                let answer = state.outage ?? Self.answer(request, &state, storage)
                guard request[HeldOption.self] else { return answer }
                state.held[request.id, default: []].append(answer)
                return .pending
            }
        })
    }

    /// Returns whether a response of the resource, or the rest of a body, is held back.
    func isSending(_ path: String) -> Bool {
        storage.state.withLock { $0.bodies.contains { $0.path == path } }
            || stub.tasksInFlight.contains { $0.request.path == path }
    }

    /// Sends a response that was held, to one of the requests in flight.
    func release(_ generator: inout some RandomNumberGenerator) -> Bool {
        guard let task = stub.tasksInFlight.randomElement(using: &generator) else { return false }
        let held = storage.state.withLock { state -> StubLoader.Answer? in
            guard state.held[task.request.id]?.isEmpty == false else { return nil }
            return state.held[task.request.id]?.removeFirst()
        }
        guard let answer = held else { return false }
        switch answer.ending {
        case .response(let status, let headers, let body):
            task.complete(with: body.result(status, headers, of: task.request))
        case .failure(let code, let underlying): task.fail(code, underlying: underlying)
        case .pending: break
        }
        return true
    }

    /// Forgets what is held back for requests that were cancelled, and which refers to this storage.
    func forget() {
        let gone = storage.state.withLock { state in
            defer { (state.held, state.bodies) = ([:], []) }
            return (state.held, state.bodies)
        }
        withExtendedLifetime(gone) {}
    }

    /// Sends the next bytes of a body, or ends it.
    func feed(_ generator: inout some RandomNumberGenerator) -> Bool {
        let step: (AsyncStream<Data>.Continuation, Data?)? = storage.state.withLock { state in
            guard let index = state.bodies.indices.randomElement(using: &generator) else { return nil }
            let continuation = state.bodies[index].continuation
            guard !state.bodies[index].rest.isEmpty else {
                state.bodies.remove(at: index)
                return (continuation, nil)
            }
            return (continuation, state.bodies[index].rest.removeFirst())
        }
        guard let (continuation, bytes) = step else { return false }
        if let bytes { continuation.yield(bytes) } else { continuation.finish() }
        return true
    }

    static let directives = [
        "max-age=10", "max-age=100", "public, max-age=20", "max-age=0", "no-cache, max-age=50", "no-store", "",
        "must-revalidate, max-age=5", "max-age=3, stale-while-revalidate=20", "max-age=3, stale-if-error=60",
        "max-age=20, immutable", "private, max-age=15", "max-age=1, must-revalidate, stale-if-error=60",
    ]

    /// Makes a new version of a resource, with other settings.
    func change(_ path: String, _ generator: inout some RandomNumberGenerator) {
        var resource = storage.state.withLock { $0.resources[path] } ?? Resource(version: 0)
        resource.version += 1
        resource.validator = Validator.allCases.randomElement(using: &generator) ?? .none
        resource.directives = Self.directives.randomElement(using: &generator) ?? ""
        resource.varies = Int.random(in: 0..<3, using: &generator) == 0
        resource.size = [0, 40, 300, 5_000, 70_000].randomElement(using: &generator) ?? 0
        resource.hasLength = Int.random(in: 0..<4, using: &generator) > 0
        resource.hasRanges = Int.random(in: 0..<4, using: &generator) > 0
        resource.isCut = resource.hasLength && Int.random(in: 0..<8, using: &generator) == 0
        let made = resource
        storage.state.withLock { $0.resources[path] = made }
    }

    static func user(_ request: HTTPRequest) -> String { request.headers["Authorization"] ?? "nobody" }

    /// The bytes for a request: what it is of, over and over.
    static func body(_ request: HTTPRequest, _ version: Int, size: Int, isPublic: Bool, varies: Bool) -> Data {
        let user = isPublic ? "all" : user(request)
        let language = varies ? request.headers["Accept-Language"] ?? "none" : "any"
        let line = [request.path, "\(version)", language, user, request.cachePartition ?? "-"].joined(separator: "|")
        var text = Data("\(line)\n".utf8)
        while text.count < size { text += text }
        return text.prefix(size)
    }

    private static func answer(_ request: HTTPRequest, _ state: inout State, _ storage: Storage) -> StubLoader.Answer {
        guard let resource = state.resources[request.path] else { return .response(404) }
        guard request.method == .get || request.method == .head else {
            state.resources[request.path]?.version += 1
            return .response(request.method == .post ? 201 : 204)
        }
        state.time += 1
        let isPublic = resource.directives.contains("public")
        let body = body(request, resource.version, size: resource.size, isPublic: isPublic, varies: resource.varies)
        // Each response has a number of its own, and what its bytes depend on.
        var headers: HTTPHeaders = [
            "Time": "\(state.time)", "Version": "\(resource.version)", "Size": "\(resource.size)",
            "Kind": "\(isPublic) \(resource.varies)", "User": isPublic ? "all" : user(request),
        ]
        headers["Cache-Control"] = resource.directives.isEmpty ? nil : resource.directives
        headers["Vary"] = resource.varies ? "Accept-Language" : nil
        let tag = "\"\(resource.version)\""
        switch resource.validator {
        case .none: break
        case .strong: headers["ETag"] = tag
        case .weak: headers["ETag"] = "W/" + tag
        case .date: headers["Last-Modified"] = "Sun, 06 Nov 1994 08:49:\(10 + resource.version % 50) GMT"
        }
        if let wanted = request.headers["If-None-Match"] {
            if let own = headers["ETag"], wanted.contains(own) { return .response(.notModified, headers: headers) }
        } else if let since = request.headers["If-Modified-Since"], since == headers["Last-Modified"] {
            return .response(.notModified, headers: headers)
        }
        if request.method == .head { return .response(headers: headers) }
        if let range = request.headers["Range"], resource.hasRanges,
            request.headers["If-Range"].map({ $0 == headers["ETag"] || $0 == headers["Last-Modified"] }) ?? true,
            let part = part(range, of: body.count)
        {
            headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
            return .response(206, headers: headers, data: body.subdata(in: part))
        }
        if resource.hasLength { headers["Content-Length"] = "\(body.count)" }
        let sent = resource.isCut && body.count > 1 ? body.prefix(body.count / 2) : body
        guard request.delivery == .stream else { return .response(headers: headers, data: Data(sent)) }
        let pieces = stride(from: 0, to: sent.count, by: 30_000).map { sent[$0..<min($0 + 30_000, sent.count)] }
        return .response(headers: headers) {
            HTTPBodyStream(
                AsyncStream { continuation in
                    if request[HeldOption.self] {
                        let body = Body(path: request.path, continuation: continuation, rest: pieces.map { Data($0) })
                        storage.state.withLock { $0.bodies.append(body) }
                    } else {
                        for piece in pieces { continuation.yield(Data(piece)) }
                        continuation.finish()
                    }
                }
            )
        }
    }

    static func part(_ range: String, of count: Int) -> Range<Int>? {
        let sides = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let first = sides[0], first < count else { return nil }
        return first..<min((sides[1] ?? count) + 1, count)
    }
}

/// Marks requests whose responses are sent by ``ModelOrigin/release(_:)``.
enum HeldOption: HTTPRequestOption {
    static let defaultValue = false
}
