import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LogTests {
    @Test func `each request is one line, with its time`() throws {
        let (lines, clock, stub) = (Journal<String>(), ManualClock(), StubLoader())
        let chain = DeferredHTTP.Log(clock: clock) { lines.add($0) } --> stub
        let url = try #require(URL(string: "https://me:secret@host/path?token=secret&q=1"))
        let request = HTTPRequest(url: url, headers: ["Authorization": "Bearer secret"])
        chain.load(request)
        clock.advance(by: .milliseconds(1_500))
        stub.tasksInFlight[0].succeed(.notFound, body: Data("12345".utf8))
        chain.load(request).cancel()
        let url2 = "GET https://…@host/path?token=…&q=1"
        #expect(lines.entries == ["\(url2): 404 Not Found, 5 bytes, 1.5 seconds", "\(url2): cancelled, 0.0 seconds"])
    }
}
