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
    /// A file of 1,000 bytes, of which 400 are there, and all kinds of responses to the request for the rest.
    @Suite("Resuming, whatever the server answers")
    struct Resuming {
        enum Outcome: Equatable {
            /// The file is the part and what came.
            case continued

            /// The file is what came.
            case replaced

            /// The file is what a second request without a range got.
            case again

            /// The file is the part.
            case whole

            /// There is no file, and the part is still one of the same file, though perhaps a longer one.
            case failed
        }

        struct Answer: CustomTestStringConvertible {
            let testDescription: String
            let script: LoopbackServer.Script
            let outcome: Outcome
            /// The entity tag or the date of the part, and the length of the whole if it is known.
            var validator = "\"a\""
            var total: Int? = 1_000

            init(
                _ outcome: Outcome,
                _ status: Int,
                _ range: String?,
                _ body: Data = Data(),
                tag: String? = "\"a\"",
                _ fields: [HTTPHeaders.Field] = [],
                length: Int? = nil
            ) {
                var headers = HTTPHeaders(fields)
                if let range { headers.fields.append(.init(name: "Content-Range", value: "bytes " + range)) }
                if let tag { headers.fields.append(.init(name: "ETag", value: tag)) }
                testDescription = "\(status) \(headers.fields.map { "\($0.name): \($0.value)" }), \(body.count) bytes"
                script =
                    .response(status, headers: headers, body: .bytes(body), contentLength: length) + [.close]
                self.outcome = outcome
            }

            func after(_ validator: String = "\"a\"", of total: Int?) -> Self {
                var result = self
                (result.validator, result.total) = (validator, total)
                return result
            }
        }

        static let original = LoopbackServer.Payload.patternBytes(0..<1_000)
        static let part = original.prefix(400)
        static let rest = Data(original.dropFirst(400))
        static let other = Data(repeating: 0xFF, count: 1_000)
        static let date = "Sun, 06 Nov 1994 08:49:36 GMT"

        private static func field(_ name: String, _ value: String) -> [HTTPHeaders.Field] {
            [.init(name: name, value: value)]
        }

        static let answers: [Answer] = [
            .init(.continued, 206, "400-999/1000", rest),
            .init(.continued, 206, "400-999/*", rest),
            .init(.again, 206, "400-999/1000", rest, tag: nil),
            .init(.again, 206, "400-999/1000", rest, tag: "\"b\""),
            .init(.again, 206, "400-999/1000", rest, tag: "W/\"a\""),
            .init(.again, 206, "400-999/1000", rest, field("Content-Encoding", "identity")),
            .init(.again, 206, "400-999/1000", rest, field("Content-Encoding", "unknown")),
            .init(.again, 206, "400-999/1000", rest, field("Content-Range", "bytes 400-999/1000")),
            .init(.again, 206, "400-999/1000", rest.prefix(500)),
            .init(.failed, 206, "400-999/1000", rest.prefix(500), length: 600),
            .init(.again, 206, nil, rest),
            .init(.again, 206, "400-999", rest),
            .init(.again, 206, "400-799/1000", rest.prefix(400)),
            .init(.again, 206, "0-999/1000", original),
            .init(.again, 206, "300-999/1000", Data(original.dropFirst(300))),
            .init(.again, 206, "500-999/1000", Data(original.dropFirst(500))),
            .init(.again, 206, "400-1999/2000", Data(rest + other)),
            .init(.again, 206, "400-1199/*", Data(rest + other.prefix(200))),
            .init(.again, 206, "400-899/*", rest.prefix(500)),
            .init(.again, 206, nil, rest, field("Content-Type", "multipart/byteranges; boundary=b")),
            .init(.continued, 206, "400-999/1000", rest).after(of: nil),
            .init(.again, 206, "400-799/*", rest.prefix(400)).after(of: nil),
            .init(.continued, 206, "400-999/1000", rest, tag: nil, field("Last-Modified", date)).after(date, of: 1_000),
            .init(.again, 206, "400-999/1000", rest, tag: nil).after(date, of: 1_000),
            .init(.again, 206, "400-999/1000", rest, tag: nil, field("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"))
                .after(date, of: 1_000),
            .init(.again, 416, "*/1000"), .init(.again, 416, "*/400"), .init(.again, 416, nil),
            .init(.whole, 416, "*/400").after(of: 400), .init(.whole, 416, "*/400", tag: nil).after(of: 400),
            .init(.again, 416, "*/400", tag: "\"b\"").after(of: 400), .init(.again, 416, "*/401").after(of: 400),
            .init(.whole, 416, "*/400").after(of: nil), .init(.again, 416, "*/400", tag: nil).after(of: nil),
            .init(.again, 416, "0-399/400").after(of: 400),
            .init(.replaced, 200, nil, other), .init(.replaced, 200, nil, other, tag: nil),
            .init(.replaced, 200, nil, other, tag: "\"b\""), .init(.replaced, 200, nil, other, tag: "W/\"b\""),
            .init(.replaced, 200, "0-999/1000", other), .init(.again, 200, "0-999/1000", rest),
            .init(.again, 200, "400-999/1000", rest), .init(.again, 200, "400-999/*", rest),
            .init(.again, 200, "0-599/*", rest), .init(.again, 200, "400-999", rest),
            .init(.again, 200, "*/1000", rest),
            .init(.failed, 200, nil, rest, length: 1_000),
            .init(.again, 203, nil, other), .init(.again, 203, "400-999/1000", rest), .init(.again, 201, nil, other),
            .init(.again, 202, nil, rest), .init(.again, 204, nil), .init(.again, 205, nil),
            .init(.again, 207, nil, rest),
            .init(.again, 226, nil, rest), .init(.again, 226, "400-999/1000", rest),
            .init(.failed, 300, nil, rest), .init(.failed, 304, nil), .init(.failed, 404, nil, rest),
            .init(.failed, 412, nil, rest), .init(.failed, 503, "400-999/1000", rest),
        ]

        /// - Parameter hasCache: Whether there is a cache between the client and the server, which passes all on.
        @Test(arguments: answers, [false, true])
        func `a file is one response, or a part and its continuation`(answer: Answer, hasCache: Bool) async throws {
            for engine in URLClient.Configuration.Engine.each {
                let server = try LoopbackServer { request in
                    request.headers["Range"] == nil
                        ? .response(headers: ["ETag": "\"new\""], body: .bytes(Self.other.prefix(800)))
                        : answer.script
                }
                defer { server.stop() }
                let folder = try TemporaryDirectory()
                let total = answer.total.map(String.init) ?? "*"
                try Self.part.write(to: folder.url.appending(path: "file.partial"))
                try folder.write("\(answer.validator)\n\(total)\n\(server.url("/"))\n", to: "file.partial.validator")
                let client = URLClient.fresh {
                    $0.engine = engine
                    if hasCache { $0.responseCache = PassingCache() }
                }
                let ending = await client.download(server.url("/"), to: folder.file).ending()
                #expect(server.requests.first?.headers["Range"] == "bytes=400-", "\(engine)")
                #expect(server.requestCount == (answer.outcome == .again ? 2 : 1), "\(engine), \(ending)")
                let file = try? Data(contentsOf: folder.file)
                switch answer.outcome {
                case .continued: #expect(file == Self.original, "\(engine), \(ending)")
                case .replaced: #expect(file == Self.other, "\(engine), \(ending)")
                case .again: #expect(file == Self.other.prefix(800), "\(engine), \(ending)")
                case .whole: #expect(file == Self.part, "\(engine), \(ending)")
                case .failed:
                    let kept = try? Data(contentsOf: folder.url.appending(path: "file.partial"))
                    #expect(file == nil, "\(engine), \(ending)")
                    #expect(kept.map { Self.original.starts(with: $0) || $0 == Self.rest } != false, "\(engine)")
                }
            }
        }

        @Test(arguments: ["400-999/1000", "0-599/1000", "0-599/*"])
        func `a part that nobody asked for is no file`(range: String) async throws {
            let server = try LoopbackServer { _ in
                .response(headers: ["Content-Range": "bytes " + range, "ETag": "\"a\""], body: .bytes(Self.rest))
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let error = await client.download(server.url("/"), to: folder.file).failure() as? URLError
            #expect(error?.code == .badServerResponse && error?.localizedDescription.contains(range) == true)
            #expect(try folder.contents() == [] && server.requestCount == 1)
        }

        @Test(arguments: ["HEAD", "POST"])
        func `only a GET is resumed`(method: String) async throws {
            let server = try LoopbackServer { _ in .response(body: .bytes(Self.other)) }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try Self.part.write(to: folder.url.appending(path: "file.partial"))
            try folder.write("\"a\"\n1000\n\(server.url("/"))\n", to: "file.partial.validator")
            let request = URLRequest(server.url("/")) { $0.httpMethod = method }
            #expect(await client.download(request, to: folder.file).ending() == .status(200))
            #expect(server.requests.map { $0.headers["Range"] } == [nil])
            #expect(try Data(contentsOf: folder.file) == (method == "HEAD" ? Data() : Self.other))
        }

        private var client: URLClient { .fresh() }
    }
}
