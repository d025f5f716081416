import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Job list", .ownThread, .timeLimit(.minutes(1)))
struct JobListTests {
    private func list(_ arguments: String...) throws -> JobList {
        JobList(arguments, in: try OutputDirectory(path: NSTemporaryDirectory()))
    }

    @Test(
        "Arguments that are no URLs of the web are rejected, with the reason",
        arguments: [
            ("", "it is not a URL"),
            ("http://[", "it is not a URL"),
            ("example.com/a", "it has no scheme"),
            ("/a/b", "it has no scheme"),
            ("host:80/a", "it has no scheme"),
            ("ftp://h/a", "the scheme \"ftp\" is neither http nor https"),
            ("file:///etc/passwd", "the scheme \"file\" is neither http nor https"),
            ("http:///a", "it has no host"),
        ]
    )
    func rejected(argument: String, reason: String) throws {
        let list = try list("http://h/a", argument, "http://h/b")
        #expect(list.rejected == [JobList.Rejected(argument: argument, failure: .malformedURL(reason))])
        #expect(list.jobs.map(\.name) == ["a", "b"])
    }

    @Test("A URL given twice is one file, with and without a fragment")
    func duplicates() throws {
        #expect(try list("http://h/a", "http://h/a", "http://h/a#top").jobs.map(\.url.absoluteString) == ["http://h/a"])
    }

    @Test("Paths are told as the directory was")
    func shownPaths() throws {
        let temporary = try TemporaryDirectory()
        let below = JobList(["http://h/a"], in: try OutputDirectory(path: temporary.url.path + "/"))
        #expect(below.jobs.map(\.shownPath) == ["\(temporary.url.path)/a"])
        let here = JobList(["http://h/a"], in: try OutputDirectory(path: "."))
        #expect(here.jobs.map(\.shownPath) == ["a"])
    }
}
