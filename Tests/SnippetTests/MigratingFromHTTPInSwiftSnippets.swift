// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md.

import Deferred
import DeferredCompatibility
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromHTTPInSwiftSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 14)





        final class PrintLoader: LoaderObject, @unchecked Sendable {
            override func load(task: HTTPTask) {
                print("loading \(task.request)")
                super.load(task: task)
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 27)
        let chain = joined(PrintLoader(), StubLoader(.response(200)))
        #expect(try await chain.load(HTTPRequest(host: "a")).get().status == 200)
#sourceLocation()
    }

    @Test func `The parts in code`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 63)
        enum Priority: HTTPRequestOption { static let defaultValue = 0 }

        var request = HTTPRequest(.post, host: "api.example.com", path: "/users")
        request.query = [URLQueryItem(name: "notify", value: "true")]
        request.headers["A"] = "b"
        request.body = try HTTPBody.json(["name": "Ada"])
        request.body = HTTPBody.form(["name": "Ada"])  // or HTTPBody.data(_:), HTTPBody.empty
        request[Priority.self] = 1
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 73)
        #expect(request[Priority.self] == 1 && request.headers["A"] == "b")
        request.body = HTTPBody.data(Data())
        request.body = HTTPBody.empty
        enum A: HTTPRequestOption { static let defaultValue = 0 }
        request[A.self] = 1
#sourceLocation()
    }

    @Test func `The parts in code, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 84)
        let environment = HTTPEnvironment(host: "api.example.com", pathPrefix: "/v2")
        let chain =
            ModifyRequest { request in request.headers["Accept"] = "application/json" }
            --> ApplyEnvironment(environment) --> URLSessionLoader()
        let stub = StubLoader { request in .response(request.path == "/v2/users" ? 200 : 404) }
        let response = try await (chain --> stub).load(HTTPRequest(path: "/users")).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 92)
        #expect(response.status == 200)
#sourceLocation()
    }

    @Test func `The parts in code, 3`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 99)
        let retries = RetryStrategy.backoff(attempts: 3).or(.custom { attempt in
            attempt.response?.status == .conflict ? .milliseconds(1) : nil
        })
        let chain =
            ResetGuard() --> Autocancel() --> Retry(retries) --> Throttle(maximum: 4)
            --> StubLoader(.response(409), .response(200))
        let ended = Deferred<HTTPResult>()
        let task = chain.load(HTTPRequest(host: "example.com")) { result in ended.fill(with: result) }
        let status = try await ended.value.get().status  // task.cancel() would have ended it with .cancelled
        await chain.reset().value
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 111)
        #expect(status == 200 && !task.isCancelled)
#sourceLocation()
    }

    @Test func `The parts in code, 4`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 118)
        let tokenURL = URL(string: "https://auth.example.com/token") ?? URL(filePath: "/")
        let oauth = OAuth(.init(id: "app", token: tokenURL), storage: OAuth.MemoryStorage(.init(access: "t")), over: URLSessionLoader())
        let uploads = BasicAuthentication(user: "ada", password: "secret", hosts: ["up.example.com"]) --> StubLoader(.response(201))
        let chain =
            Router(.host("up.example.com", uploads))
            --> FollowRedirects() --> Deduplicate() --> RateLimit(requestsPerSecond: 10) --> oauth
            --> Fallback(to: StubLoader(.response(202))) --> StubLoader(.failure(.cannotConnect))
        let created = try await chain.load(HTTPRequest(host: "up.example.com")).get().status  // 201
        let accepted = try await chain.load(HTTPRequest(host: "example.com")).get().status    // 202
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 129)
        #expect(created == 201 && accepted == 202)
#sourceLocation()
    }

    func `The parts in code, 5`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 135)
        struct Both: HTTPLoader {
            let (one, other): (any HTTPLoader, any HTTPLoader)
            var successors: [any HTTPLoader] { [one, other] }
            func load(_ task: HTTPTask) { one.load(task) }
        }
        var configuration = URLClient.Configuration()
        configuration.tls.minimumVersion = .v1_3
        _ = (URLSessionLoader(configuration: configuration), URLSessionLoader(client: URLClient()))
        var request = HTTPRequest(path: "/")
        request.isThrottled = false
        _ = HTTPError(.cannotConnect, request: request, response: nil, reason: "no route", underlying: nil)
        _ = HTTPResponse(request: request, status: HTTPStatus(200))
        let chain = joined(Retry(.custom { attempt in attempt.number < 3 ? .zero : nil }), StubLoader(.response(200)))
        _ = chain.load(request, completion: { result in print(result) })
        let response = try await StubLoader(.response(200)).load(request).get()
        print(try response.decode([String].self), HTTPMethod.get, (HTTPResult.self, HTTPRequest.self))
#sourceLocation()
    }

    @Test func `Differences`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 159)


        struct Printing: HTTPLink {
            func load(_ task: HTTPTask, next: any HTTPLoader) {
                print("loading \(task.request)")
                task.pass(to: next)
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 169)
        #expect(try await joined(Printing(), StubLoader(.response(200))).load(HTTPRequest(host: "a")).get().status == 200)
#sourceLocation()
    }
}
