import Deferred
import Foundation

/// The body of every request, as the options `--data` and `--form` describe it.
struct RequestBody: Equatable {
    /// A field of a form. A value that begins with "@" names a file.
    struct Field: Equatable {
        let name: String
        let value: String
    }

    /// The texts, which are joined with "&". One that begins with "@" names a file, or standard input by "@-".
    var data: [String] = []
    var form: [Field] = []

    var isEmpty: Bool { data.isEmpty && form.isEmpty }

    /// The paths of the files; "-" is standard input.
    var files: [String] {
        (data + form.map(\.value)).filter { $0.hasPrefix("@") }.map { String($0.dropFirst()) }
    }

    /// Reads the files, so that the body can be sent as often as needed.
    ///
    /// - Returns: The body and its type; nil if there is none.
    func read() throws(ProgramExit) -> (data: Data, type: String?)? {
        if isEmpty { return nil }
        guard !form.isEmpty else {
            let parts = try data.map(Self.contents)
            return (Data(parts.joined(separator: Data("&".utf8))), "application/x-www-form-urlencoded")
        }
        let parts = try form.map { field throws(ProgramExit) -> HTTPBody.Part in
            guard field.value.hasPrefix("@") else { return .init(name: field.name, text: field.value) }
            let file = field.value == "@-" ? nil : URL(literalPath: String(field.value.dropFirst())).lastPathComponent
            let data = try Self.contents(of: field.value)
            let type = "application/octet-stream"
            return .init(name: field.name, data: data, fileName: file ?? "-", contentType: type)
        }
        let body = HTTPBody.multipart(parts)
        let bytes = body.pieces.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } }
        return (bytes, body.contentType)
    }

    private static func contents(of text: String) throws(ProgramExit) -> Data {
        text.hasPrefix("@") ? try InputFile.read(String(text.dropFirst()), atMost: 1 << 30) : Data(text.utf8)
    }
}
