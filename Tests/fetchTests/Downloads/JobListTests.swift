import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Job list", .ownThread, .timeLimit(.minutes(1)))
struct JobListTests {
    private func list(_ files: WantedFile...) throws -> JobList {
        JobList(files, in: try OutputDirectory(path: NSTemporaryDirectory()))
    }

    private func list(urls: String...) throws -> JobList {
        JobList(urls.map { WantedFile(url: $0) }, in: try OutputDirectory(path: NSTemporaryDirectory()))
    }

    @Test(
        arguments: [
            ("", "\"\": it has no scheme"),
            ("http://[", "http://[: it is not a URL"),
            ("example.com/a", "example.com/a: it has no scheme"),
            ("/a/b", "/a/b: it has no scheme"),
            ("host:80/a", "host:80/a: it has no scheme"),
            ("#http://h/a", "#http://h/a: it has no scheme"),
        ]
    )
    func `an argument that is not a URL is rejected, with the reason`(argument: String, reason: String) throws {
        let list = try list(urls: "http://h/a", argument, "http://h/b")
        let lines = list.rejections.map { $0.failure.line(for: $0.url) }
        #expect(lines == ["\(reason); write it like https://example.com/file.zip"])
        #expect(list.jobs.map(\.name) == ["a", "b"])
    }

    @Test func `a URL given twice is one file, with and without a fragment`() throws {
        let list = try list(urls: "http://h/a", "http://h/a", "http://h/a#top")
        #expect(list.jobs.map(\.url.absoluteString) == ["http://h/a"])
    }

    @Test func `a file gets the name in its line if that is a valid name`() throws {
        let url = "http://h/a"
        let files = [nil, "b", "../c", "..", "A"].map { WantedFile(url: url, name: $0) }
        let names = JobList(files, in: try OutputDirectory(path: ".")).jobs.map(\.name)
        #expect(Array(names[1...3]) == ["b", ".._c", "index.html"])
        // Some file systems ignore case.
        #expect(names.count == 5 && Set(names).count == 5 && names[0].hasPrefix("a-") && names[4].hasPrefix("A-"))
    }

    @Test func `the only file gets the name that was given for it, as it is`() throws {
        let list = JobList([WantedFile(url: "http://h/a")], in: try OutputDirectory(path: "."), named: "x.partial")
        #expect(list.jobs.map(\.name) == ["x.partial"] && list.jobs.map(\.received) == list.jobs.map(\.destination))
    }

    @Test func `a file with a checksum gets its name later`() throws {
        let checksum = Checksum("sha256:" + String(repeating: "0", count: 64))
        let list = JobList([WantedFile(url: "http://h/a b")], in: try OutputDirectory(path: "."), checksum: checksum)
        #expect(list.jobs.map(\.received.lastPathComponent) == ["a b.unverified"])
    }

    @Test func `paths are shown as the directory was given`() throws {
        let temporary = try TemporaryDirectory()
        for (path, shown) in [(temporary.url.path + "/", "\(temporary.url.path)/a"), (".", "a"), ("./", "./a")] {
            let list = JobList([WantedFile(url: "http://h/a")], in: try OutputDirectory(path: path))
            #expect(list.jobs.map(\.shownPath) == [shown])
        }
    }
}
