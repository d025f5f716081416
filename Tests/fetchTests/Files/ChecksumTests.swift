import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Checksums", .ownThread, .timeLimit(.minutes(1)))
struct ChecksumTests {
    private static func sum(_ data: Data, pieces: Int = .max) -> String {
        var hash = SHA256()
        for start in stride(from: 0, to: data.count, by: pieces) { hash.update(data[start...].prefix(pieces)) }
        return hash.finish().map { String(format: "%02x", $0) }.joined()
    }

    /// The examples of FIPS 180-4, and lengths around the blocks of 64 bytes, from `sha256sum`.
    @Test(
        arguments: [
            ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            ("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            ("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
            ("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
            ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ]
    )
    func `the sum is that of the standard`(text: String, count: Int, expected: String) {
        let data = Data(String(repeating: text, count: count).utf8)
        #expect(Self.sum(data) == expected)
        if data.count < 1_000 {
            #expect(Self.sum(data, pieces: 1) == expected && Self.sum(data, pieces: 63) == expected)
        }
    }

    @Test(arguments: ["", "sha256:", "sha256", "SHA-256:00", "sha256:" + String(repeating: "g", count: 64), "a:b:c"])
    func `nothing else is a checksum`(text: String) {
        #expect(Checksum(text) == nil)
    }

    @Test func `a file with the sum gets its name, and replaces another`() throws {
        let folder = try TemporaryDirectory()
        try Data("abc".utf8).write(to: folder.file("x.unverified"))
        try Data("old".utf8).write(to: folder.file("x"))
        let sum = try #require(Checksum("sha256:" + Self.sum(Data("abc".utf8))))
        try sum.accept(folder.file("x.unverified"), as: folder.file("x"))
        #expect(try folder.names == ["x"] && folder.contents(of: "x") == Data("abc".utf8))
    }

    @Test func `one with another is named, with both sums, and stays what it was`() throws {
        let folder = try TemporaryDirectory()
        try Data("abc".utf8).write(to: folder.file("x.unverified"))
        try Data("old".utf8).write(to: folder.file("x"))
        let zeros = String(repeating: "0", count: 64)
        let error = #expect(throws: DownloadFailure.self) {
            try Checksum("sha256:\(zeros)")?.accept(folder.file("x.unverified"), as: folder.file("x"))
        }
        #expect(error?.reason == "the file's SHA-256 is \(Self.sum(Data("abc".utf8))), and not \(zeros)")
        #expect(error?.advice.contains("kept as \"x.unverified\"") == true)
        #expect(try folder.names == ["x", "x.unverified"] && folder.contents(of: "x") == Data("old".utf8))
    }
}
