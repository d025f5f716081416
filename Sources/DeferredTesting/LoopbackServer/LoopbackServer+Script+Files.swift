internal import DeferredNetworking
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
        return ServedContent.file(url)?.script(for: request) ?? .response(404)
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
        return ServedContent(body: body, entityTag: entityTag).script(for: request)
    }

    private static var notAllowed: Self { .response(405, headers: ["Allow": "GET, HEAD"]) }
}

/// Content that is served with ranges, and its validators.
private struct ServedContent {
    let body: LoopbackServer.Payload
    let entityTag: String
    var lastModified: String?

    /// RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static let dateStyle = Date.VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
            """,
        locale: Locale(identifier: "en_US_POSIX"),
        timeZone: .gmt,
        calendar: Calendar(identifier: .gregorian)
    )

    /// Returns the content of a file; `nil` when there is no regular file.
    static func file(_ url: URL) -> ServedContent? {
        guard
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int,
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        let inode = attributes[.systemFileNumber] as? Int ?? 0
        let seconds = modified.timeIntervalSince1970
        let tag = [size, inode, Int(seconds * 1_000_000)].map { String($0, radix: 16) }.joined(separator: "-")
        return ServedContent(
            body: .file(url, range: 0..<size),
            entityTag: "\"\(tag)\"",
            lastModified: modified.formatted(dateStyle)
        )
    }

    func script(for request: LoopbackServer.Request) -> LoopbackServer.Script {
        let ranges = request.headers.values(for: "Range")
        // RFC 9110, section 13.1.5: a validator must match exactly.
        guard request.method == "GET", ranges.count == 1, let range = RequestedRange(ranges[0]),
            [nil, entityTag, lastModified].contains(request.headers["If-Range"])
        else { return .response(headers: headers(), body: body) }
        guard let part = range.part(of: Int64(body.count)) else {
            return .response(416, headers: headers("bytes */\(body.count)"))
        }
        let position = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
        return .response(
            206,
            headers: headers(position),
            body: body.part(Int(part.lowerBound)..<Int(part.upperBound))
        )
    }

    private func headers(_ contentRange: String? = nil) -> HTTPHeaders {
        var headers: HTTPHeaders = ["ETag": entityTag, "Accept-Ranges": "bytes"]
        headers["Last-Modified"] = lastModified
        headers["Content-Range"] = contentRange
        return headers
    }
}

extension LoopbackServer {
    /// Starts a server that serves the files below a directory.
    ///
    /// Answers GET and HEAD as ``Script/file(_:for:)`` does. The request's path, percent-decoded, names the file. Paths
    /// that lead out of the directory, by `..` or by a symbolic link, get status 404, and so do directories.
    ///
    /// - Parameters:
    ///   - directory: The directory. It need not exist yet; files are looked up for each request.
    ///   - port: The port to listen on; 0 selects any free one.
    /// - Throws: ``StartError`` when the port is taken or not allowed, or when the system is out of resources.
    public convenience init(servingFilesAt directory: URL, port: UInt16 = 0) throws(StartError) {
        try self.init(port: port) { request in
            guard let file = Self.file(at: request.path, in: directory) else { return .response(404) }
            return .file(file, for: request)
        }
    }

    /// Returns the file that a decoded path names; `nil` when it is not inside the directory.
    private static func file(at path: String, in directory: URL) -> URL? {
        let components = path.split(separator: "/")
        guard !components.contains(".."), !path.utf8.contains(0) else { return nil }
        let file = components.reduce(directory) { $0.appendingPathComponent(String($1)) }.resolvingSymlinksInPath()
        let root = directory.resolvingSymlinksInPath().pathComponents
        return file.pathComponents.starts(with: root) ? file : nil
    }
}
