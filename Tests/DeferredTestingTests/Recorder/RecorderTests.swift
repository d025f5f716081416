import DeferredCore
import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RecorderTests {
    @Test func `the URLs in a response's fields lose their secrets, too`() throws {
        let folder = try TemporaryDirectory()
        let location = "https://me:hunter2@host/next?token=hunter2&page=2#code=hunter2"
        let stub = StubLoader(
            .response(302, headers: ["Location": location, "Link": "<https://host/?api_key=hunter2>; rel=next"])
        )
        let recorder = Recorder()
        (recorder --> stub).load(HTTPRequest(host: "host"))
        try recorder.write(to: folder.file)
        #expect(try !String(contentsOf: folder.file, encoding: .utf8).contains("hunter2"))
        let replayed = try StubLoader(replaying: folder.file).load(HTTPRequest(host: "host")).peek()?.get()
        #expect(replayed?.headers["Location"] == "https://…@host/next?token=…&page=2#code=…")
        #expect(replayed?.headers["Link"] == "<https://host/?api_key=…>; rel=next")
    }

    @Test func `a recording is replayed, and has no secrets`() throws {
        let folder = try TemporaryDirectory()
        let stub = StubLoader(
            .response(503),
            .response(200, headers: ["Set-Cookie": "id=hunter2", "X-A": "a"], body: #"{"token": "hunter2"}"#),
            .failure(.timedOut),
            .response(data: Data([0xFF, 0])),
            .pending
        )
        let recorder = Recorder()
        let chain = recorder --> stub
        let requests = ["/a?token=hunter2", "/a?token=hunter2", "/b", "/c"].compactMap { path in
            URL(string: "https://me:hunter2@host" + path).map {
                HTTPRequest(url: $0, headers: ["Authorization": "hunter2"])
            }
        }
        for request in requests { chain.load(request) }
        chain.load(requests[3]).cancel()
        #expect(recorder.count == 4)
        try recorder.write(to: folder.file)
        #expect(try !String(contentsOf: folder.file, encoding: .utf8).contains("hunter2"))

        let replaying = try StubLoader(replaying: folder.file)
        let results = requests.compactMap { replaying.load($0).peek() }
        #expect(results.map { try? $0.get().status.code } == [503, 200, nil, 200])
        #expect(try results[1].get().headers.map(\.description) == ["X-A: a"])
        #expect(try results[1].get().text == #"{"token": "…"}"# && results[3].get().body == Data([0xFF, 0]))
        guard case .failure(let error) = results[2] else { return }
        #expect(error.code == .timedOut)
        replaying.load(HTTPRequest(host: "host", path: "/d"))
        #expect(replaying.unexpectedRequests.map(\.path) == ["/d"])
    }

    @Test func `bodies come back byte by byte`() throws {
        let folder = try TemporaryDirectory()
        // A byte order mark, one within a text, and text that has two forms.
        let texts = ["\u{FEFF}A", "A\u{FEFF}", "e\u{301}\u{E9}", "\0\u{2028}", ""]
        let bodies = texts.map { Data($0.utf8) } + [Data(0...255), Data([0xEF, 0xBB, 0xBF, 0xFF])]
        let recorder = Recorder()
        for (number, body) in bodies.enumerated() {
            let chain = recorder --> StubLoader(.response(data: body))
            chain.load(HTTPRequest(host: "host", path: "/\(number)"))
        }
        try recorder.write(to: folder.file)
        let replaying = try StubLoader(replaying: folder.file)
        for (number, body) in bodies.enumerated() {
            let result = replaying.load(HTTPRequest(host: "host", path: "/\(number)")).peek()
            #expect(try result?.get().body == body, "\(number)")
        }
    }
}
