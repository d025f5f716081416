extension URLClient {
    /// See ``Retries``.
    @available(*, deprecated, renamed: "Retries")
    public typealias RetryPolicy = Retries
}
