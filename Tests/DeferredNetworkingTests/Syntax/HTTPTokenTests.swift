import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPTokenTests {
    /// Short and long, for Swift keeps those up to 15 bytes in another place; the last four are pairs that are equal by
    /// Unicode, the second pair of which has as many bytes.
    private static let texts = [
        "", "a", "A", "b", "ab", "Content-Length", "content-length", "Content-Lengtg", "If-Unmodified-Since",
        "if-unmodified-since", "If-Unmodified-Sincf", "\u{E9}", "e\u{301}", "q\u{307}\u{323}", "q\u{323}\u{307}",
    ]

    @Test func `texts have the same bytes if they are the same to a server, and not only to Unicode`() {
        for one in Self.texts {
            for other in Self.texts {
                #expect(one.hasBytes(of: other) == (Array(one.utf8) == Array(other.utf8)), "\(one) and \(other)")
            }
        }
    }

    @Test func `names are equal if they differ in the case of ASCII letters alone`() {
        for one in Self.texts {
            for other in Self.texts {
                let areEqual = one.utf8.map(HTTPToken.lowercased) == other.utf8.map(HTTPToken.lowercased)
                #expect(HTTPToken.areEqualWithoutCase(one, other) == areEqual, "\(one) and \(other)")
            }
        }
    }
}
