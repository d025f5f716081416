/// The engines that there are.
///
/// Over `URLSession`, servers on Linux can end or freeze the process, and all sessions share one queue; there, a client
/// may be over libcurl itself. Tests: all of `URLClientTests`, with `DEFERRED_ENGINE=libcurl` in the environment.
enum ClientEngines {
    /// What a configuration asks for that a session can't do.
    private static func settingForLibcurl(in configuration: URLClient.Configuration) -> String? {
        if configuration.tls != URLClient.TLS(), !SessionSecurity.isAvailable { return "tls" }
        if configuration.proxy != .environment { return "proxy" }
        if configuration.unixSocketPath != nil { return "unixSocketPath" }
        if configuration.httpVersion != nil { return "httpVersion" }
        return configuration.streamBufferLimit == nil ? nil : "streamBufferLimit"
    }

    /// How much of a stream waits before its sender is held up, unless the configuration says so; nil where it can't
    /// be.
    static func streamBufferLimit(of configuration: URLClient.Configuration) -> Int? {
        configuration.engine == .libcurl ? configuration.streamBufferSize : nil
    }

    /// Makes the engine that a configuration asks for.
    ///
    /// - Throws: ``URLClientError/engineUnavailable(reason:)``.
    static func make(_ configuration: URLClient.Configuration) throws(URLClientError) -> any Engine {
        switch configuration.engine {
        case .urlSession:
            if let setting = settingForLibcurl(in: configuration) {
                throw .engineUnavailable(reason: "\(setting) is not possible over .urlSession; use the engine .libcurl")
            }
            let session = configuration.makeSessionConfiguration()
            try BackgroundSessions.refuse(session)
            SessionSecurity.setMinimumVersion(of: configuration.tls, in: session)
            return URLSessionEngine(copying: session, security: try SessionSecurity(configuration.tls))
        case .libcurl:
            #if os(Linux)
            if configuration.tls.clientCertificate?.isArchive == true {
                throw .engineUnavailable(reason: "over .libcurl a client's certificate and key are files in PEM format")
            }
            return try LibcurlEngine(configuration)
            #else
            throw .engineUnavailable(reason: "the engine .libcurl is for Linux; use .urlSession, which is safe here")
            #endif
        }
    }
}
