import Deferred
import Foundation

// Answers requests that arrive as lines of JSON, through a cache: what suite.mjs has in the place of `fetch`.
//
// Arguments: `memory` or a folder; `data` or `stream`.

struct Asked: Decodable, Sendable {
    let id: Int
    let method: String
    let url: URL
    let fields: [[String]]
    let body: String?
    /// The `cache` of `fetch`.
    let policy: String?
    /// The `redirect` of `fetch`.
    let redirect: String?
}

struct Answer: Encodable, Sendable {
    let id: Int
    var status: Int?
    var fields: [[String]]?
    var body: String?
    var error: String?
}

struct Bridge: Sendable {
    private let isStreaming: Bool
    private let manual: any HTTPLoader
    private let following: any HTTPLoader

    init(_ storage: Cache.Storage, isStreaming: Bool) {
        self.isStreaming = isStreaming
        // What the tests about errors depend on.
        let cache = Cache(storage, servesStaleOnError: true)
        var configuration = URLClient.Configuration()
        configuration.engine = .libcurl
        following = FollowRedirects() --> cache --> URLSessionLoader(configuration: configuration)
        configuration.redirects = URLClient.RedirectPolicy.none
        manual = cache --> URLSessionLoader(configuration: configuration)
    }

    func answer(_ asked: Asked) async -> Answer {
        var request = HTTPRequest(HTTPMethod(rawValue: asked.method), url: asked.url)
        request.headers = HTTPHeaders(asked.fields.map { .init(name: $0[0], value: $0[1]) })
        // As a browser, which delivers what it can't decode.
        request.headers["Accept-Encoding"] = "*"
        if let body = asked.body { request.body = .text(body, contentType: nil) }
        if asked.policy == "no-cache" { request.cachePolicy = .validate }
        if isStreaming { request.delivery = .stream }
        do {
            let response = try await (asked.redirect == "manual" ? manual : following).load(request).get()
            var body = response.body
            if let stream = response.stream {
                for try await bytes in stream { body += bytes }
            }
            return Answer(
                id: asked.id,
                status: response.status.code,
                fields: response.headers.map { [$0.name, $0.value] },
                body: String(decoding: body, as: UTF8.self)
            )
        } catch {
            return Answer(id: asked.id, error: "\(error)")
        }
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(64) }
let bridge = Bridge(
    arguments[1] == "memory" ? .memory() : .disk(at: URL(filePath: arguments[1])),
    isStreaming: arguments[2] == "stream"
)
while let line = readLine() {
    guard let asked = try? JSONDecoder().decode(Asked.self, from: Data(line.utf8)) else { exit(65) }
    _Concurrency.Task.detached { [bridge] in
        guard let line = try? JSONEncoder().encode(await bridge.answer(asked)) else { exit(66) }
        // One write, so that the lines of several threads don't mix.
        FileHandle.standardOutput.write(line + [0x0A])
    }
}
