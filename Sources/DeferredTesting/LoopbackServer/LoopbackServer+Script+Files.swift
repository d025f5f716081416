public import Foundation

extension LoopbackServer.Script {
    /// Creates the answer to GET and HEAD for a file, streamed from disk, with range requests (RFC 9110, section 14).
    ///
    /// The response has `Content-Length`, `Last-Modified`, `Accept-Ranges` and a strong `ETag` made from the file's
    /// size, modification time and inode. A `Range` of one byte range gives status 206, or 416 when it lies outside
    /// the file; several ranges and malformed ones are ignored, as the standard allows. So is any `Range` whose
    /// `If-Range` does not match. A file that is missing or not a regular file gives 404, any other method 405.
    ///
    /// - Parameters:
    ///   - url: The file's URL.
    ///   - request: The request to answer.
    public static func file(_ url: URL, for request: LoopbackServer.Request) -> Self {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .status(405, headers: ["Allow": "GET, HEAD"])
        }
        guard let file = ServedFile(url) else { return .status(404) }
        let ranges = request.headers.values(for: "Range")
        var wanted = ByteRange.whole
        if request.method == "GET", ranges.count == 1, file.matches(ifRange: request.headers["If-Range"]) {
            wanted = ByteRange(ranges[0], size: file.size)
        }
        var script: Self
        switch wanted {
        case .whole:
            script = .response(headers: file.headers(), body: .file(url, range: 0..<file.size))
        case .part(let range):
            let position = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
            script = .response(status: 206, headers: file.headers(position), body: .file(url, range: range))
        case .unsatisfiable:
            script = .response(status: 416, headers: file.headers("bytes */\(file.size)"))
        }
        // A response to HEAD has no body but the same headers, `Content-Length` included.
        if request.method == "HEAD" { script.steps.removeLast() }
        return script
    }
}

/// The attributes of a file that the answer to a file request needs.
private struct ServedFile {
    let size: Int
    let entityTag: String
    let lastModified: String

    /// Returns `nil` when there is no regular file.
    init?(_ url: URL) {
        guard
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int,
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        let inode = attributes[.systemFileNumber] as? Int ?? 0
        let seconds = modified.timeIntervalSince1970
        self.size = size
        entityTag =
            "\"" + [size, inode, Int(seconds * 1_000_000)].map { String($0, radix: 16) }.joined(separator: "-") + "\""
        lastModified = HTTPDate.text(for: modified)
    }

    func headers(_ contentRange: String? = nil) -> LoopbackServer.Headers {
        var headers: LoopbackServer.Headers = [
            "ETag": entityTag,
            "Last-Modified": lastModified,
            "Accept-Ranges": "bytes",
        ]
        if let contentRange { headers.fields.append(.init(name: "Content-Range", value: contentRange)) }
        return headers
    }

    /// Returns true if a range is to be honoured (RFC 9110, section 13.1.5): the validators have to be identical.
    func matches(ifRange validator: String?) -> Bool {
        validator == nil || validator == entityTag || validator == lastModified
    }
}
