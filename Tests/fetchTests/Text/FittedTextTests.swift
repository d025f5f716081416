import TestSupport
import Testing

@testable import fetch

@Suite("Fitted text", .ownThread, .timeLimit(.minutes(1)))
struct FittedTextTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｶ", 1), ("한", 2), ("👍", 2), ("→", 1),
        ("a\u{200B}b", 2), ("✔\u{FE0F}", 2),
    ])
    func `characters take the cells that terminals give them`(text: String, expected: Int) {
        #expect(FittedText.width(text) == expected)
    }

    @Test(arguments: [
        ("short.txt", 9, "short.txt"), ("averylongname.txt", 9, "aver….txt"),
        ("averylongname.txt", 10, "avery….txt"),
        ("日本語のファイル名.txt", 10, "日本….txt"), ("abc", 1, "a"), ("abc", 0, ""), ("abc", 2, "a…"),
        ("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}…e\u{301}"),
    ])
    func `the middle gives way`(text: String, width: Int, expected: String) {
        #expect(FittedText.truncatingMiddle(text, to: width) == expected)
    }

    @Test(arguments: 0...30)
    func `no text gets wider than asked, whatever is in it`(width: Int) {
        for text in ["日本語のファイル名日本語.txt", "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", "plain-old-file-name-of-some-length.tar.gz", "e\u{301}日e\u{301}日"] {
            for ellipsis in ["…", ".."] {
                let fitted = FittedText.truncatingMiddle(text, to: width, ellipsis: ellipsis)
                #expect(FittedText.width(fitted) <= width)
                #expect(FittedText.width(FittedText.padded(fitted, to: width)) == width)
                #expect(FittedText.width(FittedText.padded(fitted, to: width, atStart: true)) == width)
            }
        }
    }
}
