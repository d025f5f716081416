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
#sourceLocation(file: "README.md", line: 30)


        let answer = Deferred<Int>()
        let text = answer.map { "The answer is \($0)" }
        let registration = answer.upon(.any()) { print("on a background queue: \($0)") }
        registration.cancel()  // removes the handler, and frees its captures

        answer.fill(with: 42)  // true: the first one wins
        answer.fill(with: 43)  // false: nothing happens
        print(await text.value)
#sourceLocation()
#sourceLocation(file: "README.md", line: 42)
        #expect(registration.isCancelled)
        #expect(text.peek() == "The answer is 42")
#sourceLocation()
    }

    @Test func `Tasks`() async throws {
#sourceLocation(file: "README.md", line: 49)
        enum Failure: Error { case noSuchUser }

        func name(of user: Int) -> Task<String> {
            let promise = Task<String>.Promise()  // if it is lost, the task fails, and names this line
            DispatchQueue.global().async {
                if user == 1 { promise.succeed(with: "Ada") } else { promise.fail(with: Failure.noSuchUser) }
            }
            return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        }

        let greeting = name(of: 1).map { "Hello, \($0)" }.timeout(after: .seconds(60))
        greeting.uponSuccess(on: .main) { print($0) }
        print(try await greeting.value)
#sourceLocation()
#sourceLocation(file: "README.md", line: 64)
        #expect(try await greeting.value == "Hello, Ada")
        await #expect(throws: Failure.noSuchUser) { try await name(of: 2).value }
#sourceLocation()
    }

    @Test func `Requests`() async throws {
#sourceLocation(file: "README.md", line: 73)
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
        let destination = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: destination) }
#sourceLocation()
#sourceLocation(file: "README.md", line: 81)
        var configuration = URLClient.Configuration()
        configuration.deadlines.total = .seconds(5)
        configuration.authentication = .bearer("token")
        let client = URLClient(configuration: configuration)

        let user = client.decode(User.self, from: URLRequest(url: url))  // retried, if that can help
        user.uponSuccess(on: .main) { print("Hello, \($0.name)") }

        let download = client.download(URLRequest(url: url), to: destination)  // resumes what is left of a failed one
        download.uponProgress(on: .main) { print($0) }
        let (file, _) = try await download.get()  // cancels the download if this Swift task is cancelled
        await client.shutdown().value
#sourceLocation()
#sourceLocation(file: "README.md", line: 95)
        #expect(try await user.value.name == "Ada" && file == destination)
#sourceLocation()
    }

    @Test func `Chains`() async throws {
#sourceLocation(file: "README.md", line: 105)
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == "Bearer fresh" ? .json(#"{"name": "Ada"}"#) : .status(401)
        }
        defer { server.stop() }
        let environment = HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port), pathPrefix: "/v2")
        @Sendable func signIn() -> Task<String> { .success("fresh") }
#sourceLocation()
#sourceLocation(file: "README.md", line: 114)
        let chain =
            Autocancel() --> Validate() --> Retry()
            --> BearerAuthentication { refused in signIn() }             // one refresh for all requests that get a 401
            --> Throttle(maximum: 8) --> ApplyEnvironment(environment)  // https://api.example.com/v2
            --> URLSessionLoader()

        let request = HTTPRequest(path: "/users", query: [.init(name: "name", value: "Ada & Grace")])
        let user = try await chain.load(request).get().decode(User.self)

        let stub = StubLoader(.response(401), .json(#"{"name": "Ada"}"#))
        let tested = chain --> stub  // the same chain without a network, for a test
#sourceLocation()
#sourceLocation(file: "README.md", line: 127)
        #expect(user.name == "Ada")
        #expect(try await tested.load(request).get().decode(User.self).name == "Ada" && stub.requests.count == 2)
        #expect(server.requests.map(\.path) == ["/v2/users"])
#sourceLocation()
    }
}
