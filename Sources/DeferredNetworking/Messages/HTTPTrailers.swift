/// The fields that are sent behind a streamed body, such as a digest of its bytes: RFC 9110, section 6.5.
///
/// ```swift
/// let digest = RunningDigest()
/// let trailers = HTTPTrailers(["Repr-Digest"]) { ["Repr-Digest": digest.value] }
/// let task = client.upload(request, from: .stream(digest.reading(bytes), trailers: trailers))
/// ```
///
/// The names are announced in the field `Trailer`. The body is sent in chunks, over HTTP/1.1: libcurl sends no trailers over
/// HTTP/2. A server may ignore them.
///
/// A request fails with ``URLClientError/Code/invalidRequest(reason:)`` if it has another name among its trailers than were
/// announced, or one that a trailer must not have (RFC 9110, section 6.5.1); if they have more than 65,000 bytes; if the length of its body is given, or that is
/// spooled; over a client whose HTTP version is HTTP/2; and over `URLSession`.
public struct HTTPTrailers: Sendable {
    /// The names of the fields.
    public let names: [String]

    private static let largest = 65_000
    private let make: @Sendable () async throws -> HTTPHeaders

    /// Creates trailers.
    ///
    /// - Parameters:
    ///   - names: The names of all fields that there may be.
    ///   - make: Returns the fields. Called each time that all bytes of the body were made, in the Swift task that made
    ///     them; an error that it throws fails the request.
    public init(_ names: [String], _ make: @escaping @Sendable () async throws -> HTTPHeaders) {
        self.names = names
        self.make = make
    }

    /// Checks what can be checked before the body is sent.
    func check() throws(URLClientError) {
        for name in names {
            try RequestGrammar.check(fieldNamed: name, value: "")
            guard TrailerGrammar.allows(name) else {
                throw .invalidRequest(
                    reason: "the field \(DisplayText.quoted(name)) can't be a trailer; send it in the head"
                )
            }
        }
        guard !names.isEmpty else {
            throw .invalidRequest(reason: "its trailers have no names; name all that there may be, or leave them out")
        }
    }

    /// Returns the fields behind a body whose bytes were all made.
    func fields() async throws -> HTTPHeaders {
        let fields = try await make()
        for field in fields {
            guard names.contains(where: field.isNamed) else {
                throw URLClientError.invalidRequest(
                    reason: "the trailer \(DisplayText.quoted(field.name)) was not announced; add it to the names"
                )
            }
            try RequestGrammar.check(fieldNamed: field.name, value: field.value)
        }
        // With what is behind them, libcurl's limit is 64 KiB.
        let count = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard count <= Self.largest else {
            throw URLClientError.invalidRequest(
                reason: "its trailers have \(count) bytes, more than \(Self.largest); send them in the body"
            )
        }
        return fields
    }
}
