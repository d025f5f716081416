// swift-format-ignore-file
// Written by Documentation/snippets.py from README.md.

import Deferred
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ReadmeSnippets {
    @Test func `Futures`() async throws {
#sourceLocation(file: "README.md", line: 29)


        let answer = Deferred<Int>()
        let text = answer.map { "The answer is \($0)" }

        let registration = answer.upon(.any()) { print("on a background queue: \($0)") }
        text.upon(.immediate) { print($0) }
        registration.cancel()  // takes the first handler back, and frees what it captured

        answer.fill(with: 42)  // true: the first one wins, and runs the handlers
        answer.fill(with: 43)  // false: nothing happens
        print(answer.peek() ?? 0, await text.value)
#sourceLocation()
#sourceLocation(file: "README.md", line: 43)
        #expect(registration.isCancelled)
        #expect(text.peek() == "The answer is 42")
#sourceLocation()
    }

    @Test func `Tasks`() async throws {
#sourceLocation(file: "README.md", line: 53)
        enum Failure: Error { case noSuchUser }

        func name(of user: Int) -> Task<String> {
            let promise = Task<String>.Promise()  // if it is lost unfilled, the task fails, and says where this line is
            DispatchQueue.global().async {
                if user == 1 { promise.succeed(with: "Ada") } else { promise.fail(with: Failure.noSuchUser) }
            }
            return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        }

        let greeting = name(of: 1)
            .map { "Hello, \($0)" }
            .recover { error in
                if error.isCancellation { throw error }
                return "Hello, stranger"
            }
        greeting.uponSuccess(on: .main) { print($0) }
        print(try await greeting.value, greeting.progress.fractionCompleted)
#sourceLocation()
#sourceLocation(file: "README.md", line: 73)
        #expect(try await greeting.value == "Hello, Ada")
        await #expect(throws: Failure.noSuchUser) { try await name(of: 2).value }
#sourceLocation()
    }

    @Test func `Requests`() async throws {
#sourceLocation(file: "README.md", line: 83)
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
        let destination = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: destination) }
#sourceLocation()
#sourceLocation(file: "README.md", line: 91)
        var configuration = URLClient.Configuration()
        configuration.deadlines.total = .seconds(5)
        configuration.maximumRequestsInFlight = 64
        configuration.authentication = .bearer("token")
        let client = URLClient(configuration: configuration)

        let user = client.decode(User.self, from: URLRequest(url: url))  // tried again, if that can help
        user.uponSuccess(on: .main) { print("Hello, \($0.name)") }

        // A file at `destination` is always whole; a download that failed is resumed by the next one.
        let download = client.download(URLRequest(url: url), to: destination)
        download.uponProgress(on: .main) { print($0) }
        let (file, _) = try await download.get()  // cancels the download if this Swift task is cancelled
        print(file.lastPathComponent)

        await client.shutdown().value  // lets requests end, refuses new ones
#sourceLocation()
#sourceLocation(file: "README.md", line: 109)
        #expect(try await user.value.name == "Ada")
#sourceLocation()
    }

    @Test func `Chains`() async throws {
#sourceLocation(file: "README.md", line: 121)
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == "Bearer fresh" ? .json(#"{"name": "Ada"}"#) : .status(401)
        }
        defer { server.stop() }
        let environment = HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port), pathPrefix: "/v2")
        @Sendable func signIn() -> Task<String> { .success("fresh") }
#sourceLocation()
#sourceLocation(file: "README.md", line: 130)
        let throttle = Throttle(maximum: 8)
        let chain =
            ResetGuard() --> Autocancel() --> Validate() --> Retry()
            --> BearerAuthentication { refused in signIn() }   // one refresh, however many requests get a 401
            --> throttle --> ApplyEnvironment(environment)    // https://api.example.com/v2
            --> URLSessionLoader()

        var request = HTTPRequest(path: "/users", query: [.init(name: "name", value: "Ada & Grace")])
        request.timeout = .seconds(5)  // options are typed, and belong to the request
        let loading = chain.load(request)
        loading.upon(.main) { print($0) }  // once, also when it is cancelled
        let user = try await loading.get().decode(User.self)

        throttle.maximum = 2  // at once
        await chain.reset().value  // cancels what is in flight, waits for it, forgets the token

        let stub = StubLoader(.response(401), .json(#"{"name": "Ada"}"#))
        let tested = chain --> stub  // the same chain without a network, for a test
#sourceLocation()
#sourceLocation(file: "README.md", line: 150)
        #expect(user.name == "Ada")
        #expect(try await tested.load(request).get().decode(User.self).name == "Ada" && stub.requests.count == 2)
        #expect(server.requests.map(\.path) == ["/v2/users"])
#sourceLocation()
    }
}
