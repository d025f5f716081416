import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    @Suite("Requests that cannot be sent")
    struct BadInput {
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let named: String
            let change: @Sendable (inout URLRequest) -> Void

            init(_ description: String, names named: String, _ change: @escaping @Sendable (inout URLRequest) -> Void) {
                testDescription = description
                self.named = named
                self.change = change
            }
        }

        static let cases = [
            Case("no URL", names: "no URL") { $0.url = nil },
            Case("a relative URL", names: #""users/7""#) { $0.url = URL(string: "users/7") },
            Case("ftp", names: #""ftp""#) { $0.url = URL(string: "ftp://127.0.0.1/") },
            Case("CR LF in a header name", names: #""X-A\r\nX-B""#) {
                $0.setValue("v", forHTTPHeaderField: "X-A\r\nX-B")
            },
            Case("CR LF in the method", names: #""GET\r\nX: y""#) { $0.httpMethod = "GET\r\nX: y" },
            Case("an infinite time-out", names: "inf") { $0.timeoutInterval = .infinity },
            Case("a time-out that is no number", names: "nan") { $0.timeoutInterval = .nan },
            Case("a time-out of zero", names: "0.0") { $0.timeoutInterval = 0 },
            Case("a body on GET", names: #""GET""#) { $0.httpBody = Data("body".utf8) },
        ]

        @Test(arguments: cases)
        func `the task has failed when the call returns, with an error that names the value`(bad: Case) throws {
            let server = try LoopbackServer { _ in .response(200) }
            defer { server.stop() }
            var request = URLRequest(url: server.url("/"))
            bad.change(&request)
            let session = URLSession.fresh()
            let file = FileManager.default.temporaryDirectory.appending(path: "never-\(UUID().uuidString)")
            try check(session.beginDataTask(with: request).peek(), names: bad.named)
            try check(session.beginDownloadTask(with: request, to: file).peek(), names: bad.named)
            #expect(server.connectionCount == 0)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }

        private func check<Value>(_ result: Result<Value, any Error>?, names value: String) throws {
            let result = try #require(result)
            let error = #expect(throws: URLClientError.self) { try result.get() }
            guard case .invalidRequest(let reason)? = error?.code else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(reason.contains(value))
        }

        @Test func `a URL with an upper-case scheme is sent`() async throws {
            let server = try LoopbackServer { _ in .response(200) }
            defer { server.stop() }
            let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/"))
            #expect(await URLSession.fresh().beginDataTask(with: url).ending() == .status(200))
        }
    }
}
