import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Distinct names", .ownThread, .timeLimit(.minutes(1)))
struct DistinctNamesTests {
    private func names(_ urls: String...) throws -> [String] {
        DistinctNames.names(for: try urls.map { try #require(URL(string: $0)) })
    }

    @Test("Names that are different stay as they are")
    func different() throws {
        #expect(try names("http://h/a", "http://h/b") == ["a", "b"])
    }

    @Test("Equal names get marks that are the same in every process and every order")
    func equal() throws {
        let expected = ["f-585b60e8.zip", "f-036c03b8.zip", "other"]
        #expect(try names("http://h/1/f.zip", "http://h/2/f.zip", "http://h/other") == expected)
        #expect(try names("http://h/2/f.zip", "http://h/1/f.zip") == [expected[1], expected[0]])
    }

    @Test("Names are equal when a file system may take them for equal")
    func equivalent() throws {
        #expect(Set(try names("http://h/A", "http://g/a").map { $0.lowercased() }).count == 2)
        #expect(try names("http://h/caf%C3%A9", "http://h/cafe%CC%81").allSatisfy { $0.contains("-") })
    }

    @Test("A query tells files apart")
    func queries() throws {
        #expect(Set(try names("http://h/get?id=1", "http://h/get?id=2")).count == 2)
    }

    @Test("A mark never makes a name that another file has")
    func collidingMark() throws {
        let marked = try names("http://h/1/f.zip", "http://h/2/f.zip")
        let names = try names("http://h/1/f.zip", "http://h/2/f.zip", "http://h/\(marked[0])")
        #expect(Set(names).count == 3)
        #expect(names[2] == marked[0])
    }
}
