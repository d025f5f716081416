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

extension URLClientTests {
    @Suite("Events")
    struct Events {
        private func summary(_ event: URLClient.Event) -> String {
            switch event.kind {
            case .created: "created"
            case .sent: "sent"
            case .waitingForConnectivity: "waiting"
            case .redirected(let response, let target): "\(response.status.code) to \(target.path())"
            case .challenged(let response): "challenged \(response.status.code)"
            case .cached(let age, let isConfirmed): "cached \(age) \(isConfirmed)"
            case .response(let response): "response \(response.status.code)"
            case .retried(let attempt, let pause): "retried after \(attempt) and \(pause)"
            case .finished(let error): "finished \(error.map { "\(Ending($0))" } ?? "well")"
            }
        }

        @Test func `the monitor sees the whole way of a request`() async throws {
            let server = try LoopbackServer { request in
                switch request.number {
                case 1: .redirect(to: "/next", status: 307)
                case 2: .response(401, body: "no")
                case 3: .response(503, body: "later")
                default: .response(body: "hello")
                }
            }
            defer { server.stop() }
            let events = Log<URLClient.Event>()
            let client = URLClient.fresh {
                $0.monitor = { events.add($0) }
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
                $0.retries.random = { 1 }
                $0.authentication = .bearer("token", when: .challenged)
            }
            let put = URLRequest(server.url("/first")) {
                $0.httpMethod = "PUT"
                $0.httpBody = Data("body".utf8)
            }
            #expect(try await client.begin(put).text() == "hello")
            #expect(
                events.entries.map(summary) == [
                    "created", "sent", "307 to /next", "sent", "response 401", "challenged 401",
                    "sent", "response 503", "retried after 1 and 0.2 seconds", "sent", "response 200", "finished well",
                ]
            )
            #expect(events.entries.allSatisfy { $0.request == 1 && $0.original.url == put.url })
            #expect(events.entries.last?.received == 12)
            #expect(events.entries.map(\.elapsed) == events.entries.map(\.elapsed).sorted())
        }

        @Test func `a body that is sent again after a redirect counts twice`() async throws {
            let server = try LoopbackServer { $0.number == 1 ? .redirect(to: "/next", status: 307) : .response(204) }
            defer { server.stop() }
            let sent = Log<Int64>()
            let client = URLClient.fresh { $0.monitor = { sent.add(Int64($0.sent)) } }
            let put = URLRequest(server.url("/first")) {
                $0.httpMethod = "PUT"
                $0.httpBody = Data(count: 1_000_000)
            }
            _ = try await client.begin(put).get()
            #expect(sent.entries == sent.entries.sorted())
            #expect(sent.entries.last == 2_000_000)
        }

        @Test func `a request's own monitor gets its events after the client's, with the causes of retries`()
            async throws
        {
            let server = try LoopbackServer { request in
                request.path == "/busy" && request.number == 1 ? .response(503, body: "later") : .response(204)
            }
            defer { server.stop() }
            let events = Log<(monitor: String, event: URLClient.Event)>()
            let client = URLClient.fresh {
                $0.monitor = { events.add(("client", $0)) }
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
            }
            let options = URLClient.RequestOptions(monitor: { events.add(("request", $0)) })
            _ = try await client.begin(server.url("/busy"), options: options).get()
            _ = try await client.begin(server.url("/other")).get()
            let all = events.entries
            #expect(all.prefix(4).map(\.monitor) == ["client", "request", "client", "request"])
            #expect(Set(all.filter { $0.monitor == "request" }.map(\.event.request)) == [1])
            #expect(all.filter { $0.monitor == "client" && $0.event.request == 2 }.count == 4)
            let failures = all.compactMap(\.event.failure)
            #expect(failures.count == 2)
            let body = Data("later".utf8)
            #expect(failures.first as? URLClientError == .unacceptableStatus(code: 503, body: body))
            #expect((failures.first as? URLClientError)?.url == server.url("/busy"))
        }

        @Test func `a stream finishes with its body, not with its head`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.close] }
            defer { server.stop() }
            let events = Log<URLClient.Event>()
            let client = URLClient.fresh { $0.monitor = { events.add($0) } }
            let response = try await client.stream(URLRequest(url: server.url("/"))).get()
            await #expect(throws: URLClientError.self) { for try await _ in response.body {} }
            try await eventually { events.entries.count == 4 }
            let error = URLClientError(.truncatedBody(received: 5, expected: 10), url: server.url("/"))
            #expect(events.entries.map(summary).last == "finished client(\(error))")
        }

        @Test func `a stream that is whole finishes without an error, and its task keeps nothing of the client`()
            async throws
        {
            final class Captured: Sendable {}
            let server = try LoopbackServer { _ in .response(body: "12345") }
            defer { server.stop() }
            let ends = Log<String>()
            weak var weakCaptured: Captured?
            let task: DeferredTask.Task<StreamingResponse>
            do {
                let captured = Captured()
                weakCaptured = captured
                let client = URLClient.fresh {
                    $0.monitor = { event in
                        withExtendedLifetime(captured) {}
                        if case .finished(let error) = event.kind { ends.add("\(String(describing: error))") }
                    }
                }
                task = client.stream(server.url("/"))
                for try await bytes in try await task.get().body { #expect(bytes == Data("12345".utf8)) }
                try await eventually { ends.entries == ["nil"] }
                await client.shutdown().value
            }
            try await eventually { weakCaptured == nil }
            #expect(try await task.get().head.status == 200)
        }

        @Test func `the error that ends a stream names its URL`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
            defer { server.stop() }
            let events = Log<URLClient.Event>()
            let client = URLClient.fresh { $0.monitor = { events.add($0) } }
            let response = try await client.stream(server.url("/")).get()
            client.invalidateAndCancel()
            await #expect(throws: URLClientError.shutDown) { for try await _ in response.body {} }
            guard case .finished(let error as URLClientError) = try #require(events.entries.last).kind else {
                Issue.record("\(events.entries)")
                return
            }
            #expect(error == .shutDown && error.url == server.url("/"))
        }

        @Test func `an event is one line without credentials`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/" ? .redirect(to: "/next?token=secret") : .response(404, body: "no")
            }
            defer { server.stop() }
            let events = Log<URLClient.Event>()
            let client = URLClient.fresh { $0.monitor = { events.add($0) } }
            _ = await client.begin(server.url("/?key=secret")).ending()
            let lines = events.entries.map(\.description)
            #expect(
                lines.allSatisfy { $0.hasPrefix("#1 GET \"http://") && !$0.contains("secret") && !$0.contains("\n") }
            )
            #expect(lines.first?.contains(": created, after ") == true)
            #expect(lines.contains { $0.contains(": redirected by 302 to \"http://") })
            #expect(lines.last?.contains(": failed: The server answered with status 404") == true)
            #expect(lines.last?.hasSuffix("0 bytes sent, 2 received") == true)
        }

        @Test func `an event describes a URLError on one line, without its user info`() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "http://me:secret@127.0.0.1:1/?token=secret#a=b") }
            defer { server.stop() }
            let events = Log<URLClient.Event>()
            let client = URLClient.fresh { $0.monitor = { events.add($0) } }
            let ending = await client.begin(server.url("/")).ending()
            guard case .url(.cannotConnectToHost) = ending else {
                Issue.record("\(ending)")
                return
            }
            let line = try #require(events.entries.last?.description)
            #expect(line.contains(": failed: URLError -1004 \""))
            #expect(line.contains("\": \"http://127.0.0.1:1/?token=…#a=b\", after "))
            #expect(!line.contains("secret") && !line.contains("UserInfo") && !line.contains("\n"))
            let odd = URLError(.unknown, failing: URL(string: "http://h/?key=secret"), description: "a\r\nb")
            #expect(odd.summary == "URLError -1 \"a\\r\\nb\": \"http://h/?key=…\"")
            #expect(URLError(.timedOut).summary == "URLError -1001")
        }
    }
}
