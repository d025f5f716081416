import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Headers for resuming", .ownThread, .timeLimit(.minutes(1)))
struct ResumeHeadersTests {
    private let url = URL(string: "http://host/") ?? URL(filePath: "/")

    private func validator(total: Int64?) throws -> ResumeValidator {
        let length = total.map(String.init) ?? "*"
        return try #require(ResumeValidator(contents: Data("\"a\"\n\(length)\nhttp://host/\n".utf8)))
    }

    private func response(_ status: Int, _ headers: [String: String]) -> ResponseHead { .made(status, headers) }

    @Test(
        arguments: [
            ("bytes 0-9/10", "0-9/10"), ("bytes 5-9/*", "5-9/*"), ("Bytes */10", "*/10"), ("bytes */*", "*/*"),
            ("bytes 5-4/10", nil), ("bytes 0-10/10", nil), ("bytes 0-9", nil), ("items 0-9/10", nil), ("", nil),
            ("bytes -1-9/10", nil), ("bytes 0-/10", nil), ("bytes 0-9/10/11", nil), ("bytes 0-9/x", nil),
            ("bytes 0-99999999999999999999/*", nil),
        ] as [(String, String?)]
    )
    func `a Content-Range is read as RFC 9110 writes it`(field: String, expected: String?) {
        let range = ContentRange(field)
        let text = range.map { range in
            let bytes = range.bytes.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*"
            return bytes + "/" + (range.total.map(String.init) ?? "*")
        }
        #expect(text == expected)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT", 1),
        ("Wed, 28 Feb 2024 23:59:59 GMT", "Thu, 29 Feb 2024 00:00:00 GMT", 1),
        ("Tue, 28 Feb 2023 00:00:00 GMT", "Wed, 01 Mar 2023 00:00:00 GMT", 86_400),
        ("Sun, 31 Dec 2023 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 GMT", 86_400),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ])
    func `dates are compared by the second`(earlier: String, later: String, difference: Int64) throws {
        let seconds = try (#require(HTTPDate.seconds(earlier)), #require(HTTPDate.seconds(later)))
        #expect(seconds.1 - seconds.0 == difference)
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
    ])
    func `other forms of dates are none`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test(
        arguments: [
            (["ETag": "\"a\""], "\"a\""), (["ETag": "W/\"a\""], nil), (["ETag": "a"], nil), ([:], nil),
            (["ETag": "\"a\", \"b\""], nil),
            (
                ["Last-Modified": "Sun, 06 Nov 1994 08:49:36 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
                "Sun, 06 Nov 1994 08:49:36 GMT"
            ),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
        ] as [([String: String], String?)]
    )
    func `only a strong validator serves for resuming`(headers: [String: String], expected: String?) {
        let validator = ResumeValidator(from: response(200, headers), total: 10, url: url)
        #expect(validator?.field == expected)
        if let validator {
            #expect(ResumeValidator(contents: validator.contents) == validator)
        }
    }

    @Test(arguments: [
        "", "\"a\"", "\"a\"\n1\n", "\"a\"\n1\nhttp://host/", "a\n1\nhttp://host/\n", "\"a\"\nx\nhttp://host/\n",
        "\"\n1\nhttp://host/\n", "\"a\u{7F}\"\n1\nhttp://host/\n", "\"a\"b\"\n1\nhttp://host/\n",
    ])
    func `a stored validator that was cut off or altered is none`(text: String) {
        #expect(ResumeValidator(contents: Data(text.utf8)) == nil)
    }

    @Test(arguments: [
        (206, ["Content-Range": "bytes 5-9/10"], "startOver"),
        (206, ["Content-Range": "bytes 5-9/10", "Content-Length": "5", "ETag": "\"a\""], "append"),
        (206, ["Content-Range": "bytes 5-9/10", "ETag": "\"a\""], "append"),
        (206, ["Content-Range": "bytes 5-9/10", "ETag": "\"b\""], "startOver"),
        (206, ["Content-Range": "bytes 5-9/10", "ETag": "W/\"a\""], "startOver"),
        (206, ["Content-Range": "bytes 4-9/10", "ETag": "\"a\""], "startOver"),
        (206, ["Content-Range": "bytes 5-8/10", "ETag": "\"a\""], "startOver"),
        (206, ["Content-Range": "bytes 5-10/11", "ETag": "\"a\""], "startOver"),
        (206, ["Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip", "ETag": "\"a\""], "startOver"),
        (206, [:], "startOver"),
        (200, ["ETag": "\"b\""], "restart"), (200, [:], "restart"),
        (416, ["Content-Range": "bytes */5"], "startOver"), (416, [:], "startOver"),
        (404, [:], "reject"), (500, [:], "reject"), (304, [:], "reject"),
    ])
    func `a response to a range request is judged by its headers`(
        status: Int,
        headers: [String: String],
        expected: String
    ) throws {
        let plan = DownloadPlan(
            response(status, headers),
            of: url,
            isRangeRequested: true,
            length: 5,
            validator: try validator(total: 10)
        )
        #expect("\(plan)".hasPrefix(expected))
    }

    @Test func `a refused range is a complete file when nothing is missing`() throws {
        for (total, tag) in [(nil, "\"a\""), (5, "\"a\""), (5, nil)] as [(Int64?, String?)] {
            let refusal = response(416, ["Content-Range": "bytes */5"].merging(tag.map { ["ETag": $0] } ?? [:]) { $1 })
            let plan = DownloadPlan(
                refusal,
                of: url,
                isRangeRequested: true,
                length: 5,
                validator: try validator(total: total)
            )
            guard case .alreadyComplete(let response) = plan else {
                Issue.record("\(plan)")
                continue
            }
            #expect(response.status == 200)
        }
    }

    @Test func `a refusal that names a range of bytes says nothing about the file`() throws {
        let plan = DownloadPlan(
            response(416, ["Content-Range": "bytes 0-4/5"]),
            of: url,
            isRangeRequested: true,
            length: 5,
            validator: try validator(total: 5)
        )
        #expect("\(plan)".hasPrefix("startOver"))
    }

    @Test(arguments: [(206, "restart(nil)"), (416, "reject")])
    func `a range that nobody asked for is a refusal or the file`(status: Int, expected: String) {
        let plan = DownloadPlan(
            response(status, ["Content-Range": "bytes 5-9/10", "ETag": "\"a\""]),
            of: url,
            isRangeRequested: false,
            length: 0,
            validator: nil
        )
        #expect("\(plan)".hasPrefix(expected))
    }
}
