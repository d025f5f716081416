import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("File names", .ownThread, .timeLimit(.minutes(1)))
struct FileNameTests {
    @Test(arguments: [
        ("http://h/a/file.zip", "file.zip"),
        ("http://h/a/file.zip?v=1#x", "file.zip"),
        ("http://h", "index.html"),
        ("http://h/", "index.html"),
        ("http://h/a/", "index.html"),
        ("http://h/a/.", "index.html"),
        ("http://h/a/..", "index.html"),
        ("http://h/a/%2e%2e", "index.html"),
        ("http://h/a/...", "index.html"),
        ("http://h/%20", "index.html"),
        ("http://h/..%2f..%2fetc%2fpasswd", "_._.._etc_passwd"),
        ("http://h/..%5Cboot.ini", "_._boot.ini"),
        ("http://h/a%00b%1B%5B31m%0Ac", "a_b_[31m_c"),
        ("http://h/%E2%80%AEgpj.exe", "_gpj.exe"),
        ("http://h/caf%C3%A9%20%E6%97%A5.txt", "café 日.txt"),
        ("http://h/%FF%FE", "%FF%FE"),
        ("http://h/.profile", "_profile"),
        ("http://h/%20.profile", "_profile"),
        ("http://h/a.partial", "a.partial_"),
        ("http://h/a.Partial.Validator", "a.Partial.Validator_"),
    ])
    func `a file is named after the last part of its URL's path if that is a valid name`(
        url: String,
        expected: String
    ) throws {
        #expect(FileName.name(for: try #require(URL(string: url))) == expected)
    }

    @Test func `a long name loses the end of its stem, never half a character, and keeps its type`() {
        let name = FileName.sanitised(String(repeating: "é", count: 300) + ".tar.gz")
        #expect(name.hasSuffix("é.tar.gz"))
        #expect((FileName.longest - 1...FileName.longest).contains(name.utf8.count))
        let endless = FileName.sanitised("a." + String(repeating: "x", count: 300))
        #expect(endless.utf8.count == FileName.longest)
    }

    @Test func `a name whose first character is too long keeps a part of that`() {
        let name = FileName.sanitised("e" + String(repeating: "\u{301}", count: 300) + ".txt")
        #expect(name.unicodeScalars.first == "e" && name.hasSuffix(".txt"))
        #expect((FileName.longest - 1...FileName.longest).contains(name.utf8.count))
    }

    @Test func `a name that is a partial file's once it is shortened is changed, too`() {
        let start = String(repeating: "x", count: FileName.longest - 8) + ".partial"
        #expect(FileName.sanitised(start + String(repeating: "y", count: 50)) == start + "_")
    }

    @Test(arguments: [
        ("a.zip", "a-1.zip"), ("a", "a-1"), ("a.tar.gz", "a-1.tar.gz"), (".profile", ".profile-1"),
        ("x.y.z", "x.y-1.z"), (".tar.gz", ".tar-1.gz"),
    ])
    func `a mark goes before the type`(name: String, expected: String) {
        #expect(FileName.marked(name, with: "1") == expected)
    }

    private func names(_ urls: String...) throws -> [String] {
        FileName.distinct(
            try urls.map { text in
                let url = try #require(URL(string: text))
                return (url, FileName.name(for: url))
            }
        )
    }

    @Test func `names that are different stay as they are`() throws {
        #expect(try names("http://h/a", "http://h/b") == ["a", "b"])
    }

    @Test func `equal names get marks that are the same in every process and every order`() throws {
        let expected = ["f-585b60e8.zip", "f-036c03b8.zip", "other"]
        #expect(try names("http://h/1/f.zip", "http://h/2/f.zip", "http://h/other") == expected)
        #expect(try names("http://h/2/f.zip", "http://h/1/f.zip") == [expected[1], expected[0]])
    }

    @Test func `names are equal when a file system may take them for equal`() throws {
        #expect(Set(try names("http://h/A", "http://g/a").map { $0.lowercased() }).count == 2)
        #expect(try names("http://h/caf%C3%A9", "http://h/cafe%CC%81").allSatisfy { $0.contains("-") })
    }

    @Test func `a query distinguishes files`() throws {
        #expect(Set(try names("http://h/get?id=1", "http://h/get?id=2")).count == 2)
    }

    @Test func `a mark never makes a name that another file has`() throws {
        let marked = try names("http://h/1/f.zip", "http://h/2/f.zip")
        let names = try names("http://h/1/f.zip", "http://h/2/f.zip", "http://h/\(marked[0])")
        #expect(Set(names).count == 3)
        #expect(names[2] == marked[0])
    }
}
