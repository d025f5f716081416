import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport

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
        var requestCount = 0
        /// The number of the last response.
        var time = 0
    }

    /// Shared with the closure of the stub.
    final class Storage: Sendable { let state = Lock(State()) }

    let storage = Storage()
    let stub: StubLoader

    init() {
        stub = StubLoader(answering: { [storage] request in
            storage.state.withLock { state in
                state.requestCount += 1
                return state.outage ?? Self.answer(request, &state)
            }
        })
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

    /// The bytes for a request: what it is of, over and over.
    static func body(_ request: HTTPRequest, _ version: Int, size: Int, isPublic: Bool, varies: Bool) -> Data {
        let user = isPublic ? "all" : request.headers["Authorization"] ?? "nobody"
        let language = varies ? request.headers["Accept-Language"] ?? "none" : "any"
        let line = [request.path, "\(version)", language, user, request.cachePartition ?? "-"].joined(separator: "|")
        var text = Data("\(line)\n".utf8)
        while text.count < size { text += text }
        return text.prefix(size)
    }

    private static func answer(_ request: HTTPRequest, _ state: inout State) -> StubLoader.Answer {
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
            "Kind": "\(isPublic) \(resource.varies)",
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
        return .response(headers: headers) {
            HTTPBodyStream(
                AsyncStream { continuation in
                    for start in stride(from: 0, to: sent.count, by: 30_000) {
                        continuation.yield(Data(sent[start..<min(start + 30_000, sent.count)]))
                    }
                    continuation.finish()
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
