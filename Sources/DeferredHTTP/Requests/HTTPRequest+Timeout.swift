extension HTTPRequest {
    /// The longest idle time, in either direction, before the request fails with ``HTTPError/Code/timedOut``; `nil` for
    /// the terminal loader's configured value.
    public var timeout: Duration? {
        get { self[TimeoutOption.self] }
        set { self[TimeoutOption.self] = newValue }
    }
}

private enum TimeoutOption: HTTPRequestOption {
    static let defaultValue: Duration? = nil
}
