import Deferred
import Foundation
import TestSupport
import Testing

@testable import fetch

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Download run", .ownThread, .timeLimit(.minutes(1)))
struct DownloadRunTests {
    private typealias Promise = Task<(URL, URLResponse)>.Promise

    private let temporary: TemporaryDirectory
    private let timers = ManualTimers()
    private let errors = Recording()
    private let output = Recording()
    private let begun = AsyncQueue<(name: String, promise: Promise)>()
    private let finished = AsyncQueue<Int>()

    init() throws {
        temporary = try TemporaryDirectory()
    }

    private func start(_ urls: String..., maximum: Int = 2) throws -> DownloadRun {
        let run = DownloadRun(
            JobList(urls, in: try OutputDirectory(path: temporary.url.path)),
            maximum: maximum,
            display: PlainDisplay(output: output, errors: errors),
            timers: timers,
            begin: { job, _ in
                let promise = Promise()
                begun.add((job.name, promise))
                return Task(promise, uponCancel: { $0.fail(with: URLError(.cancelled)) })
            },
            completion: { finished.add($0.failureCount) }
        )
        run.start()
        return run
    }

    private func succeed(_ promise: Promise) throws {
        let url = try #require(URL(string: "http://h/"))
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        promise.succeed(with: (url, response))
    }

    @Test("Every file is begun, and the end comes after the last one's")
    func success() async throws {
        _ = try start("http://h/a", "http://h/b", "http://h/c")
        for name in ["a", "b", "c"] {
            let next = await begun.next()
            #expect(next.name == name)
            try succeed(next.promise)
        }
        #expect(await finished.next() == 0)
        #expect(output.text.split(separator: "\n").count == 3)
        #expect(errors.text == "")
    }

    @Test("A transient failure waits its time and begins again, a lasting one is reported at once")
    func failures() async throws {
        _ = try start("http://h/a", "http://h/b")
        let (a, b) = (await begun.next(), await begun.next())
        b.promise.fail(with: URLClientError.unacceptableStatus(code: 404, body: Data()))
        a.promise.fail(with: URLError(.timedOut))
        for attempt in 1...4 {
            await timers.untilWaiting()
            #expect(timers.delays == [.milliseconds(250 << (attempt - 1))])
            timers.advance(by: timers.delays[0])
            await begun.next().promise.fail(with: URLError(.timedOut))
        }
        #expect(await finished.next() == 2)
        #expect(
            errors.text.split(separator: "\n") == [
                "fetch: http://h/b: the server answered 404 (Not Found); check the path of the URL",
                "fetch: http://h/a: the server stopped answering (tried 5 times); try again later",
            ]
        )
        #expect(output.text == "")
    }

    @Test("Stopping cancels what runs, and says how to go on")
    func stopping() async throws {
        let run = try start("http://h/a", "http://h/b", "http://h/c", maximum: 1)
        _ = await begun.next()
        run.stop()
        #expect(await finished.next() == 0)
        #expect(run.isStopping)
        #expect(errors.text == "fetch: stopped; run the same command again to start over\n")
    }

    @Test("Without any usable URL it ends at once")
    func nothingToDo() async throws {
        _ = try start("nonsense")
        #expect(await finished.next() == 1)
        #expect(errors.text.hasPrefix("fetch: nonsense: it has no scheme"))
    }
}
