import Deferred
import Foundation

/// The line of a file in the output of `--json`. Every line has all keys.
struct JSONLine {
    /// Without user name and password.
    let url: String
    var file: String?
    var progress = FileProgress(name: "")
    var error: String?

    /// The line, in ASCII but for printable characters: what moves a terminal's cursor is escaped.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        let escaped = json.unicodeScalars.map { scalar in
            guard PrintableText.isHarmful(scalar) else { return String(scalar) }
            return String(scalar).utf16.map { String(format: "\\u%04x", $0) }.joined()
        }
        return escaped.joined() + "\n"
    }
}

extension JSONLine: Encodable {
    private enum Key: CodingKey { case url, file, status, bytes, seconds, resumed, error }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Key.self)
        let seconds = progress.elapsed.map { ($0 / .milliseconds(1)).rounded() / 1000 }
        try line.encode(url, forKey: .url)
        try line.encode(file, forKey: .file)
        try line.encode(progress.head?.status.code, forKey: .status)
        try line.encode(progress.bytes.completed, forKey: .bytes)
        try line.encode(seconds, forKey: .seconds)
        try line.encode(progress.bytes.resumed, forKey: .resumed)
        try line.encode(error, forKey: .error)
    }
}
