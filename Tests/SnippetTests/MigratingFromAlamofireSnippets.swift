// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 123)
private struct User: Decodable, Sendable { let name: String }
@MainActor private final class Bar { var progress: Float = 0; var text = "" }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromAlamofireSnippets {
    func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 68)
        struct Account: Codable, Sendable { let name: String }
        let (url, file, parameters) = (URL(filePath: "/a"), URL(filePath: "/b"), ["name": "Ada"])
        var configuration = URLClient.Configuration()
        configuration.headers = ["Accept-Language": "en"]
        configuration.userAgent = "App/1.0"
        configuration.validation = .any
        configuration.authentication = .basic(user: "ada", password: "secret")
        configuration.redirects = .follow(atMost: 5)
        configuration.redirects = .none
        configuration.retries.attempts = 5
        configuration.tls.authorities = .file(file)
        configuration.cache = Cache(.memory())
        configuration.monitor = { event in print(event.metrics?.total ?? .zero) }
        let client = URLClient(configuration: configuration)
        let task = client.begin(url)
        _ = client.decode(Account.self, from: url)
        _ = task.map { data, _ in String(decoding: data, as: UTF8.self) }
        _ = client.download(url, to: file)
        _ = client.upload(url, from: .data(Data()))
        _ = client.upload(url, from: .file(file))
        _ = client.stream(url)
        var request = HTTPRequest(url: url)
        request.body = .multipart([.init(name: "title", text: "Moon"), .init(name: "picture", file: file)])
        try request.addQuery(parameters)
        request.body = try .form(encoding: parameters)
        request.body = try .json(parameters)
        request.acceptsStatus = { $0.isSuccess }
        print(request.curlCommand)
        task.uponProgress(on: .main) { print($0) }
        for await snapshot in task.progressUpdates { print(snapshot) }
        print(task.progress)
        task.cancel()
        _ = (Validate(), Retry(), Log(), ModifyRequest { _ in }, Intercept { try await $1($0) }, BearerAuthentication { _ in .never })
        _ = (URLSessionLoader(client: client), URLClientError.self, URLError.self, HTTPError.self)
        _ = task.mapError { error in error.isCancellation ? CancellationError() : error }
#sourceLocation()
    }

    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 128)
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
        let bar = Bar()
        func show(_ user: User) { bar.text = user.name }
        func show(_ error: any Error) { bar.text = error.localizedDescription }
        let client = URLClient()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 137)






        let user = client.decode(User.self, from: URLRequest(url: url))
        user.uponProgress(on: .mainActor) { bar.progress = Float($0.fraction) }
        user.uponSuccess(on: .mainActor) { show($0) }
        user.uponFailure(on: .mainActor) { error in
            if !error.isCancellation { show(error) }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 151)
        let end = Deferred<Void>()
        user.upon(.mainActor) { _ in end.fill() }
        await end.value
        #expect(bar.text == "Ada")
        await client.shutdown().value
#sourceLocation()
    }
}
