internal import DeferredNetworking
internal import Foundation

extension HTTPRequest {
    /// The command line by which `curl` sends this request, for bug reports: without credentials, and quoted for a shell.
    ///
    /// ```swift
    /// print(request.curlCommand)  // curl -X POST 'https://host/users?token=…' -H 'Accept: text/html' --data-raw '{}'
    /// ```
    ///
    /// Secrets are those that ``DeferredNetworking/HTTPHeaders`` and this request's description leave out. A body of text
    /// that looks like one field of a form or of JSON with such a name is left out up to its end. Bodies of other bytes
    /// and of streams are named as files.
    public var curlCommand: String {
        var words = ["curl"]
        // With a body, curl would send a POST.
        if method == .head, body.isEmpty {
            words.append("--head")
        } else if method != .get || !body.isEmpty {
            words += ["-X", Self.quoted(method.rawValue)]
        }
        words.append(Self.quoted(parts.redacted))
        for field in allHeaders { words += ["-H", Self.quoted(field.description)] }
        if let path = body.files.first?.path, body.pieces.count == 1 {
            words += ["--data-binary", Self.quoted("@" + path)]
        } else if !body.isEmpty {
            words += ["--data-raw", Self.quoted(bodyText)]
        }
        return words.joined(separator: " ")
    }

    private var bodyText: String {
        guard let bytes = body.bytesInMemory, let text = String(data: bytes, encoding: .utf8) else {
            return "(\(body.description))"
        }
        return Redaction.text(text)
    }

    /// Returns a word that a shell takes as it is.
    private static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.utf8.allSatisfy { plain.contains($0) }
        return isPlain ? word : "'" + word.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }

    private static let plain = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/:@%+,")
}
