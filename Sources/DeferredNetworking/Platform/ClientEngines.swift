/// Creates the engines of clients.
///
/// On Linux, servers can crash or freeze a process that uses `URLSession`, and all sessions share one queue; there, a
/// client can use libcurl directly. Tests: all of `URLClientTests`, with `DEFERRED_ENGINE=libcurl` in the environment.
enum ClientEngines {
    /// Returns the name of a setting that `URLSession` doesn't support, if the configuration has one.
    private static func settingForLibcurl(in configuration: URLClient.Configuration) -> String? {
        if configuration.tls != URLClient.TLS(), !SessionSecurity.isAvailable { return "tls" }
        if configuration.proxy != .environment { return "proxy" }
        if configuration.unixSocketPath != nil { return "unixSocketPath" }
        if configuration.httpVersion != nil { return "httpVersion" }
        return configuration.streamBufferLimit == nil ? nil : "streamBufferLimit"
    }

    /// Returns the default limit of the bytes that wait for a stream's reader, or nil for an engine without back
    /// pressure.
    static func streamBufferLimit(of configuration: URLClient.Configuration) -> Int? {
        configuration.engine == .libcurl ? configuration.streamBufferSize : nil
    }

    /// Creates the engine for a configuration.
    ///
    /// - Throws: ``URLClientError/engineUnavailable(reason:)``.
    static func make(_ configuration: URLClient.Configuration) throws(URLClientError) -> any Engine {
        switch configuration.engine {
        case .urlSession:
            if let setting = settingForLibcurl(in: configuration) {
                throw .engineUnavailable(reason: "\(setting) is not supported by .urlSession; use the engine .libcurl")
            }
            let session = configuration.makeSessionConfiguration()
            try BackgroundSessions.refuse(session)
            SessionSecurity.setMinimumVersion(of: configuration.tls, in: session)
            return URLSessionEngine(copying: session, security: try SessionSecurity(configuration.tls))
        case .libcurl:
            #if os(Linux)
            if configuration.tls.clientCertificate?.isArchive == true {
                throw .engineUnavailable(
                    reason: "the client certificate is a PKCS#12 archive; .libcurl needs PEM files"
                )
            }
            return try LibcurlEngine(configuration)
            #else
            throw .engineUnavailable(reason: "the engine .libcurl needs Linux; use .urlSession, which is safe here")
            #endif
        }
    }
}
