extension HTTPRequest {
    /// The longest silence, in either direction, before the request fails with ``HTTPError/Code/timedOut``; `nil` for
    /// what the terminal loader is configured with.
    public var timeout: Duration? {
        get { self[TimeoutOption.self] }
        set { self[TimeoutOption.self] = newValue }
    }
}

private enum TimeoutOption: HTTPRequestOption {
    static let defaultValue: Duration? = nil
}
