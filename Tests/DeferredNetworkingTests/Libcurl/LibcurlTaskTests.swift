#if os(Linux)
import CLibcurl
import DeferredCore
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Libcurl task", .ownThread, .timeLimit(.minutes(2)))
struct LibcurlTaskTests {
    private static let patient = StreamReceiver(StreamBuffer(memoryLimit: 0), onProgress: { _ in })

    @Test(arguments: [
        ("http://host/a?b@c", "host"), ("http://HOST:80?x", "host"), ("https://user:word@host:443#x", "s/host"),
        ("https://host:80", "s/host:80"), ("http://host:8080/:80", "host:8080"), ("http://[::1]:80/", "[::1]"),
        ("http://shost/", "shost"),
    ])
    func `requests for one server have one key`(url: String, key: String) throws {
        #expect(LibcurlTask.key(of: try #require(URL(string: url))) == key)
    }

    @Test func `a response that may be held shares no connection, unless HTTP/2 is required`() throws {
        var reason: UnsafePointer<CChar>?
        #expect(libcurl_load(&reason) > 0)
        let rows: [(URLClient.HTTPVersion?, ConnectionQueue.Kind)] = [(nil, .own), (.http2, .shared), (.http1_1, .own)]
        for (version, ownKind) in rows {
            var configuration = URLClient.Configuration()
            configuration.httpVersion = version
            let engine = try LibcurlEngine(configuration)
            let request = try CheckedRequest(URLRequest(url: try #require(URL(string: "https://host/"))))
            let held = LibcurlTask(request, of: .idle(request, to: Self.patient), as: 1, in: engine)
            let other = LibcurlTask(request, of: .idle(request), as: 1, in: engine)
            #expect(held.kind == ownKind && other.kind == (version == .http1_1 ? .own : .shared))
        }
    }

    @Test func `an upload shares no connection, if libcurl would lose a response before its end`() throws {
        var reason: UnsafePointer<CChar>?
        #expect(libcurl_load(&reason) > 0)
        for version in [nil, URLClient.HTTPVersion.http2] {
            var configuration = URLClient.Configuration()
            configuration.httpVersion = version
            let engine = try LibcurlEngine(configuration)
            let post = URLRequest.post(try #require(URL(string: "https://host/")), Data("a".utf8))
            let request = try CheckedRequest(post)
            let isAlone = version == nil && LibcurlOptions.losesEarlyResponses
            #expect(LibcurlTask(request, of: .idle(request), as: 1, in: engine).kind == (isAlone ? .own : .shared))
        }
    }

    @Test func `a task that was paused once is asked as fast as before, and on a small stack`() async {
        await #expect(processExitsWith: .success) {
            try await LongOperation("hasEnough") { events in
                var reason: UnsafePointer<CChar>?
                #expect(libcurl_load(&reason) > 0)
                let url = try #require(URL(string: "http://host/"))
                let request = try CheckedRequest(URLRequest(url: url))
                let engine = try LibcurlEngine(URLClient.Configuration())
                let task = LibcurlTask(request, of: .idle(request), as: 1, in: engine)
                task.pause { true }
                let isPaused = await onThread(stackSize: 256 << 10) {
                    var isPaused = true
                    for _ in 0..<events.count {
                        isPaused = task.hasEnough && isPaused
                        events.note()
                    }
                    return isPaused
                }
                #expect(isPaused)
            }
            .expectSteadyCost()
        }
    }
}
#endif
