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
        guard request.method == "GET" || request.method == "HEAD" else { return notAllowed }
        return ServedContent(file: url)?.script(for: request) ?? .status(404)
    }

    /// Creates the answer to GET and HEAD for a payload, with range requests, as ``file(_:for:)`` does for a file.
    ///
    /// ```swift
    /// let server = try LoopbackServer { request in
    ///     let script = LoopbackServer.Script.resumable(.pattern(count: 100_000), for: request)
    ///     return request.number == 1 ? script.truncated(after: 50_000) : script  // breaks off, and can be resumed
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - body: The whole content.
    ///   - request: The request to answer.
    ///   - entityTag: The `ETag`, in quotation marks. A client that sends a different one gets the whole content again.
    public static func resumable(
        _ body: LoopbackServer.Payload,
        for request: LoopbackServer.Request,
        entityTag: String = "\"1\""
    ) -> Self {
        guard request.method == "GET" || request.method == "HEAD" else { return notAllowed }
        return ServedContent(body, entityTag: entityTag).script(for: request)
    }

    private static var notAllowed: Self { .status(405, headers: ["Allow": "GET, HEAD"]) }
}

/// Content that is served with ranges, and its validators.
private struct ServedContent {
    private let body: LoopbackServer.Payload
    private let entityTag: String
    private var lastModified: String?

    init(_ body: LoopbackServer.Payload, entityTag: String) {
        self.body = body
        self.entityTag = entityTag
    }

    /// `nil` when there is no regular file.
    init?(file url: URL) {
        guard
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int,
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        let inode = attributes[.systemFileNumber] as? Int ?? 0
        let seconds = modified.timeIntervalSince1970
        body = .file(url, range: 0..<size)
        entityTag =
            "\"" + [size, inode, Int(seconds * 1_000_000)].map { String($0, radix: 16) }.joined(separator: "-") + "\""
        lastModified = HTTPDate.text(for: modified)
    }

    func script(for request: LoopbackServer.Request) -> LoopbackServer.Script {
        let ranges = request.headers.values(for: "Range")
        var wanted = ByteRange.whole
        if request.method == "GET", ranges.count == 1, matches(ifRange: request.headers["If-Range"]) {
            wanted = ByteRange(ranges[0], size: body.count)
        }
        var script: LoopbackServer.Script
        switch wanted {
        case .whole:
            script = .response(headers: headers(), body: body)
        case .part(let range):
            let position = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
            script = .response(status: 206, headers: headers(position), body: body.part(range))
        case .unsatisfiable:
            script = .response(status: 416, headers: headers("bytes */\(body.count)"))
        }
        // A response to HEAD is the same without the body, its Content-Length included.
        if request.method == "HEAD" { script.steps.removeLast() }
        return script
    }

    private func headers(_ contentRange: String? = nil) -> LoopbackServer.Headers {
        var headers: LoopbackServer.Headers = ["ETag": entityTag, "Accept-Ranges": "bytes"]
        if let lastModified { headers.fields.append(.init(name: "Last-Modified", value: lastModified)) }
        if let contentRange { headers.fields.append(.init(name: "Content-Range", value: contentRange)) }
        return headers
    }

    /// Returns whether to honour a range (RFC 9110, section 13.1.5): the validator must match exactly.
    private func matches(ifRange validator: String?) -> Bool {
        validator == nil || validator == entityTag || validator == lastModified
    }
}
