import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Client code as the wiki of the archived library shows it: a completion handler fills a deferred result.
private func fetch(_ url: URL, with session: URLSession) -> Task<(Data, URLResponse)> {
    let deferred = Deferred<Task<(Data, URLResponse)>.Result>()
    let task = session.dataTask(with: url) { data, response, error in
        if let error {
            deferred.fail(with: error)
        } else {
            deferred.succeed(with: (data!, response!))
        }
    }
    task.resume()
    return Task(deferred, progress: task.progress)
}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct WikiTests {
    @Test func `the archived library's bridge from URLSession works as it stands`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let (data, response) = try await fetch(server.url("/"), with: URLSession(configuration: .ephemeral)).value
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }
}
