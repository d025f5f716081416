internal import DeferredHTTP
public import DeferredNetworking

extension LoopbackServer.Script {
    /// Creates a response with a `Content-Length`. As with the other responses here, `HEAD` gets it without its body.
    ///
    /// - Parameters:
    ///   - status: The status code. 1xx, 204 and 304 without a body get no `Content-Length`.
    ///   - reason: The reason phrase; `nil` selects the usual one.
    ///   - headers: The header fields. A `Content-Length` or `Transfer-Encoding` among them is sent as it is, and no
    ///     other is added. With `Connection: close` the script closes the connection at its end.
    ///   - body: The body.
    ///   - contentLength: A false length to claim, or `nil` for the true one.
    public static func response(
        _ status: Int = 200,
        reason: String? = nil,
        headers: HTTPHeaders = [:],
        body: LoopbackServer.Payload = "",
        contentLength: Int? = nil
    ) -> Self {
        var headers = headers
        let isFramed = headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
        let isBodiless = (100..<200).contains(status) || status == 204 || status == 304
        let isLengthAdded = !isFramed && (!isBodiless || body.count > 0)
        if let length = contentLength ?? (isLengthAdded ? body.count : nil) {
            headers.add(name: "Content-Length", value: "\(length)")
        }
        let head = head(status: status, reason: reason, headers: headers)
        return .wellFormed(
            [.send(head), .send(body)] + (headers["Connection"]?.lowercased() == "close" ? [.close] : [])
        )
    }

    /// Creates a redirect.
    ///
    /// - Parameters:
    ///   - location: The value of `Location`, sent as it is.
    ///   - status: The status code: 301, 302, 303, 307 or 308.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        .response(status, headers: ["Location": location])
    }

    /// Creates a response of type `application/json`; the text is sent as it is.
    public static func json(_ text: String, status: Int = 200) -> Self {
        .response(status, headers: ["Content-Type": "application/json"], body: .text(text))
    }

    /// Creates a response with neither length nor chunks: its body ends when the connection is closed.
    public static func untilClose(
        status: Int = 200,
        headers: HTTPHeaders = [:],
        body: LoopbackServer.Payload
    ) -> Self {
        .wellFormed([.send(head(status: status, headers: headers)), .send(body), .close])
    }

    /// Creates a response with a chunked body.
    ///
    /// - Parameters:
    ///   - chunks: The chunks; empty ones, which would end the body, are left out.
    ///   - status: The status code.
    ///   - headers: The header fields. `Transfer-Encoding: chunked` is added.
    ///   - trailers: The fields after the last chunk.
    public static func chunked(
        _ chunks: [LoopbackServer.Payload],
        status: Int = 200,
        headers: HTTPHeaders = [:],
        trailers: HTTPHeaders = [:]
    ) -> Self {
        var headers = headers
        headers.fields.append(.init(name: "Transfer-Encoding", value: "chunked"))
        let body = chunks.filter { $0.count > 0 }.flatMap { chunk -> [Step] in
            [.send("\(String(chunk.count, radix: 16))\r\n"), .send(chunk), .send("\r\n")]
        }
        return .wellFormed(
            [.send(head(status: status, headers: headers))] + body + [.send("0\r\n\(trailers.lines)\r\n")]
        )
    }

    /// Creates a response whose body is that of the request, sent back in chunks as it arrives.
    ///
    /// For the initialiser's `beforeBody`, so that a client can be tested that sends and receives at once. It stops
    /// reading while the client reads nothing.
    ///
    /// ```swift
    /// let server = try LoopbackServer(beforeBody: { _ in .echo() }, respond: { _ in .response(404) })
    /// ```
    ///
    /// - Parameter headers: The header fields. `Transfer-Encoding: chunked` is added.
    public static func echo(headers: HTTPHeaders = [:]) -> Self {
        var headers = headers
        headers.fields.append(.init(name: "Transfer-Encoding", value: "chunked"))
        return .wellFormed([.send(head(status: 200, headers: headers)), .echo])
    }

    private static func wellFormed(_ steps: [Step]) -> Self {
        var script = Self(steps)
        script.isResponse = true
        return script
    }

    /// Creates a script that sends these bytes, which need not be HTTP.
    public static func raw(_ bytes: LoopbackServer.Payload) -> Self {
        [.send(bytes)]
    }

    /// Returns a status line and header fields, with nothing added.
    private static func head(
        status: Int,
        reason: String? = nil,
        headers: HTTPHeaders
    ) -> LoopbackServer.Payload {
        "HTTP/1.1 \(status) \(reason ?? HTTPStatus(status).reason ?? "Status")\r\n\(headers.lines)\r\n"
    }
}

extension HTTPHeaders {
    /// The fields as they are sent, each with its line ending.
    var lines: String { fields.map { "\($0.name): \($0.value)\r\n" }.joined() }
}
