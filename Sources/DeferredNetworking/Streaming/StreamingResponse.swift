/// A response whose head has arrived and whose body is still being received.
///
/// ```swift
/// let response = try await client.stream(URLRequest(url: url)).get()
/// for try await bytes in response.body {
///     hash.update(bytes)
/// }
/// ```
public struct StreamingResponse: Sendable {
    /// The response's status and header fields.
    public let head: ResponseHead

    /// The body. The transfer is cancelled if the last reference to the body, its iterators and the task that delivered
    /// it is released before the end.
    public let body: HTTPBodyStream
}
