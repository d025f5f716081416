import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server's behaviour, and the expected ending of each kind of request.
struct FaultRow: Sendable, CustomTestStringConvertible {
    enum Kind: CaseIterable {
        case begin, upload, download, stream
    }

    let testDescription: String
    var respond: @Sendable (LoopbackServer.Request) -> LoopbackServer.Script
    var ending: Ending
    var others: [Kind: Ending] = [:]
    var body = Data("1234567890".utf8)
    var change: @Sendable (inout URLClient.Configuration) -> Void = { _ in }
    var url: (@Sendable (LoopbackServer) -> URL)?

    /// - Parameter overLibcurl: The ending over libcurl, if it is another one.
    init(
        _ description: String,
        _ script: LoopbackServer.Script,
        _ ending: Ending,
        overLibcurl: Ending? = nil,
        body: Data = Data("1234567890".utf8),
        others: [Kind: Ending] = [:],
        change: @escaping @Sendable (inout URLClient.Configuration) -> Void = { _ in },
        url: (@Sendable (LoopbackServer) -> URL)? = nil
    ) {
        self.init(
            description,
            ending,
            overLibcurl: overLibcurl,
            body: body,
            others: others,
            change: change,
            url: url
        ) { _ in script }
    }

    init(
        _ description: String,
        _ ending: Ending,
        overLibcurl: Ending? = nil,
        body: Data = Data("1234567890".utf8),
        others: [Kind: Ending] = [:],
        change: @escaping @Sendable (inout URLClient.Configuration) -> Void = { _ in },
        url: (@Sendable (LoopbackServer) -> URL)? = nil,
        respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Script
    ) {
        testDescription = description
        self.respond = respond
        self.ending = isLibcurlTested ? overLibcurl ?? ending : ending
        self.others = others
        self.body = body
        self.change = change
        self.url = url
    }
}

extension FaultRow {
    /// Tests the row with the four kinds of request at the same time, each on a separate client.
    func check() async throws {
        let server = try LoopbackServer(respond: respond)
        defer { server.stop() }
        try await withThrowingTaskGroup { group in
            for kind in Kind.allCases {
                group.addTask { try await check(kind, on: server) }
            }
            try await group.waitForAll()
        }
    }

    private func check(_ kind: Kind, on server: LoopbackServer) async throws {
        let finished = Log<Bool>()
        let client = URLClient.fresh {
            // Short if the deadline ends the request; otherwise longer than any machine takes.
            $0.deadlines.idle = (others[kind] ?? self.ending) == .url(.timedOut) ? .milliseconds(400) : .seconds(60)
            $0.maximumBodySize = 500_000
            $0.monitor = { event in
                if case .finished(let error) = event.kind { finished.add(error == nil) }
            }
            change(&$0)
        }
        let folder = try TemporaryDirectory()
        let request = URLRequest(url: url?(server) ?? server.url("/"))
        var received = Data()
        let ending: Ending
        switch kind {
        case .begin, .upload:
            let upload = URLRequest(request.url ?? server.url("/"), { $0.httpMethod = "POST" })
            let task = kind == .begin ? client.begin(request) : client.upload(upload, from: .data(Data("body".utf8)))
            ending = await task.ending()
            received = (try? await task.get().0) ?? received
        case .download:
            ending = await client.download(request, to: folder.file, resuming: false).ending()
            received = (try? Data(contentsOf: folder.file)) ?? received
        case .stream:
            ending = await read(client.stream(request), into: &received)
        }
        #expect(ending == others[kind] ?? self.ending, "\(kind)")
        var leavesFile = false
        if case .status = ending {
            leavesFile = kind == .download
            let isWhole = received == body
            #expect(isWhole, "\(kind): \(received.count) bytes of \(body.count)")
        }
        // A deadline ends the task at once; the clean-up of the transfer follows.
        let files = leavesFile ? ["file"] : []
        try await eventually {
            client.transport.requestCount == 0 && client.transport.transferCount == 0 && finished.entries.count > 0
                && (try? folder.contents()) == files
        }
        #expect(finished.entries.count == 1, "\(kind)")
    }

    private func read(_ task: Task<StreamingResponse>, into received: inout Data) async -> Ending {
        do {
            let response = try await task.get()
            for try await bytes in response.body {
                received += bytes
            }
            return .status(response.head.status.code)
        } catch {
            return Ending(error)
        }
    }
}

extension URLClientTests {
    /// Tests of server behaviours with every kind of request: each request ends once, with the right bytes or an error
    /// that says what happened, and leaves nothing behind.
    @Suite("Faults")
    struct Faults {
        static let head: LoopbackServer.Payload = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
        static let chunked: LoopbackServer.Payload = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        static let bad = Ending.url(.badServerResponse)
        static let lost = Ending.url(.networkConnectionLost)
        static let late = Ending.url(.timedOut)
        static let fine = Ending.status(200)

        static func status(_ code: Int, _ body: String = "") -> Ending {
            .client(.unacceptableStatus(code: code, body: Data(body.utf8)))
        }
    }
}
