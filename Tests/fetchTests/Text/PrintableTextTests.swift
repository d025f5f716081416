import TestSupport
import Testing

@testable import fetch

@Suite("Printable text", .ownThread, .timeLimit(.minutes(1)))
struct PrintableTextTests {
    @Test(arguments: [
        ("plain é 日 👍🏽", "plain é 日 👍🏽"), ("a\u{1B}[2Jb", "a\\u{1B}[2Jb"), ("a\r\nb", "a\\u{D}\\u{A}b"),
        ("\u{9B}31m", "\\u{9B}31m"), ("\u{202E}gpj", "\\u{202E}gpj"), ("\u{2028}", "\\u{2028}"),
        ("\u{7F}", "\\u{7F}"),
    ])
    func `characters that could change the terminal are escaped`(text: String, expected: String) {
        #expect(PrintableText.escaping(text) == expected)
    }

    @Test(arguments: [
        ("http://h/a", "http://h/a"), ("http://user:secret@h/a", "http://…@h/a"), ("http://h/a@b", "http://h/a@b"),
        ("http://a@b:c@h/", "http://…@h/"), ("not a url", "not a url"),
        ("http://h:80/a?b@c#d@e", "http://h:80/a?b@c#d@e"),
        // What is refused is printed, too.
        ("ada:secret@127.0.0.1/x", "…@127.0.0.1/x"), ("ada:secret@h//x", "…@h//x"),
        ("https:/ada:secret@h/x", "https:/…@h/x"), ("http:ada:secret@h/x", "…@h/x"),
        ("http://ada:se/cret@h/x", "http://…@h/x"), ("http://ada:se?cret@h/x", "http://…@h/x"),
        ("http://ada:se#cret@h/x", "http://…@h/x"), ("ftp://ada:se/cret@h/x", "ftp://…@h/x"),
    ])
    func `URLs are shown without user names and passwords`(text: String, expected: String) {
        #expect(PrintableText.url(text) == expected)
    }
}
