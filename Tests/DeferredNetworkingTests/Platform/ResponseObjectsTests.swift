import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking

@Suite("Response objects", .ownThread, .timeLimit(.minutes(2)))
struct ResponseObjectsTests {
    private let url = URL(string: "http://example.com/folder/file.bin?query")!

    private static let odd = [
        "content-length": "12", "CONTENT-TYPE": "Text/HTML; charset=UTF-8", "etag": "\"1\"", "dAtE": "today",
        "x-A": "1", "content-disposition": "attachment; filename=a.txt", "www-authenticate": "Basic", "don't": "2",
    ]

    private func make(_ fields: [String: String]) throws -> (ours: HTTPURLResponse, foundations: HTTPURLResponse) {
        let lines = fields.map { ResponseHead.Field(name: $0, value: $1) }
        let ours = try ResponseHead(url: url, version: "HTTP/1.1", status: 203, fields: lines).httpResponse()
        let theirs = HTTPURLResponse(url: url, statusCode: 203, httpVersion: "HTTP/1.1", headerFields: fields)
        return (ours, try #require(theirs))
    }

    private func expectEqual(_ fields: [String: String]) throws {
        let (ours, foundations) = try make(fields)
        #expect(ours == foundations && ours.hash == foundations.hash && ours.statusCode == 203 && ours.url == url)
        #expect(ours.allHeaderFields as? [String: String] == foundations.allHeaderFields as? [String: String])
        #expect(ours.mimeType == foundations.mimeType && ours.textEncodingName == foundations.textEncodingName)
        #expect(ours.expectedContentLength == foundations.expectedContentLength)
        #expect(ours.suggestedFilename == foundations.suggestedFilename)
        for name in fields.keys {
            #expect(ours.value(forHTTPHeaderField: name) == foundations.value(forHTTPHeaderField: name))
        }
        // Without the addresses.
        let descriptions = [ours, foundations].map { $0.description.drop { $0 != ">" } }
        #expect(descriptions[0] == descriptions[1])
    }

    @Test func `this version of Foundation is laid out as expected`() {
        #expect(ResponseLayout.found != nil)
    }

    @Test func `where it is not, objects are made in the usual way`() throws {
        var fields: [String: String] = [:]
        for (name, value) in Self.odd { fields[ResponseObjects.spelling(of: name)] = value }
        let (ours, foundations) = try make(Self.odd)
        let usual = ResponseObjects.make(url: url, status: 203, version: "HTTP/1.1", fields: fields, layout: nil)
        #expect(usual == foundations && usual == ours && usual?.expectedContentLength == 12)
        #expect(usual?.allHeaderFields as? [String: String] == foundations.allHeaderFields as? [String: String])
    }

    @Test(arguments: [
        [:],
        ["Server": "nginx"],
        odd,
        [
            "content-disposition": "attachment; filename=\"a b.txt\"", "www-authenticate": "Basic", "x-a": "1",
            "X-b": "2",
        ],
        ["x": "1", "-x": "3", "x-": "4", "xa": "5", "": "6", "a--b": "7", "1a2b": "8"],
        ["Content-Length": "-1"], ["Content-Length": "1, 1"], ["Content-Length": "+9223372036854775807"],
        ["content-type": ""],
        ["WWW-AUTHENTICATF": "1"], ["content-length": ""], ["Content-Disposition": "inline; filename=/a/b"],
        ["don't-o'neil": "1", "a^b": "2", "a`b": "3", "a.b_c~d": "4", "ÄÖ-äö": "5", "ß-ǆ": "6", "e\u{301}e": "7"],
    ])
    func `they are equal to Foundation's`(fields: [String: String]) throws {
        try expectEqual(fields)
    }

    @Test func `those with any names are, too`() throws {
        let characters = Array("aAbBzZxX019-_.!#$%&'*+^`|~ @[{:/äß")
        let known = ["Content-Length", "content-type", "CONTENT-DISPOSITION", "Www-Authenticate", "x-Y", "Date"]
        var random = SeededGenerator(seed: 11)
        for _ in 0..<1_000 {
            var fields: [String: String] = [:]
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let length = Int.random(in: 1...9, using: &random)
                let odd = String((0..<length).map { _ in characters.randomElement(using: &random)! })
                let name = Bool.random(using: &random) ? odd : known.randomElement(using: &random)!
                // Foundation keeps any one of those that it spells alike.
                if fields.keys.contains(where: { $0.capitalized == name.capitalized }) { continue }
                fields[name] = String(Int.random(in: 0...1_000, using: &random))
            }
            try expectEqual(fields)
        }
    }

    @Test func `an archived object has all fields`() throws {
        let fields = ["Content-Type": "text/plain", "etag": "1", "X-a": "2"]
        let data = try NSKeyedArchiver.archivedData(withRootObject: make(fields).ours, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data)
        #expect(copy?.allHeaderFields as? [String: String] == ["Content-Type": "text/plain", "Etag": "1", "X-a": "2"])
    }

    @Test func `objects keep nothing of each other`() throws {
        let texts = (0..<100).map { "a long value, so that it is an object of its own: \($0)" }
        let objects = try texts.map { try make(["Etag": $0, "Date": $0]).ours }
        for (text, object) in zip(texts, objects) {
            #expect(object.value(forHTTPHeaderField: "etag") == text && object.allHeaderFields.count == 2)
        }
    }
}
#endif
