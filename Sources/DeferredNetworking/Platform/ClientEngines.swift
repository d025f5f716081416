/// Chooses and creates the engines of clients.
///
/// On Linux, servers can crash or freeze a process that uses `URLSession`, and all sessions share one queue; there,
/// requests go out over libcurl unless they need a session. Tests: `EngineChoiceTests`; and all of `URLClientTests`,
/// with `DEFERRED_ENGINE=urlsession` in the environment for the other engine.
enum ClientEngines {
    /// The engine that a configuration leads to.
    struct Choice {
        /// The configuration, whose engine isn't ``URLClient/Configuration/Engine/automatic`` anymore.
        let configuration: URLClient.Configuration

        /// The engine, and the reason for it, for a log.
        let description: String
    }

    static func choose(for configuration: URLClient.Configuration) -> Choice {
        let session: String? =
            switch configuration.engine {
            case .urlSession: "URLSession"
            case .libcurl: nil
            case .automatic: reasonForSession(configuration)
            }
        var result = configuration
        result.engine = session == nil ? .libcurl : .urlSession
        return Choice(configuration: result, description: session ?? libcurlDescription)
    }

    /// Returns "URLSession" and the reason for it, or nil for libcurl.
    private static func reasonForSession(_ configuration: URLClient.Configuration) -> String? {
        #if os(Linux)
        let reason = SafeConfiguration.reasonForSession(configuration.session) ?? LibcurlEngine.unavailability
        return reason.map { "URLSession: \($0)" }
        #else
        return "URLSession"
        #endif
    }

    private static var libcurlDescription: String {
        #if os(Linux)
        LibcurlEngine.unavailability.map { "none: \($0)" } ?? "libcurl \(LibcurlEngine.version)"
        #else
        "none: \(needsLinux)"
        #endif
    }

    private static let needsLinux = "the engine .libcurl needs Linux; use .urlSession, which is safe here"

    /// Returns the name of a setting that `URLSession` doesn't support, if the configuration has one.
    private static func settingForLibcurl(in configuration: URLClient.Configuration) -> String? {
        if configuration.tls != URLClient.TLS(), !SessionSecurity.isAvailable { return "tls" }
        if configuration.proxyTLS != URLClient.TLS() { return "proxyTLS" }
        if configuration.proxy != .environment { return "proxy" }
        if configuration.unixSocketPath != nil { return "unixSocketPath" }
        if configuration.httpVersion != nil { return "httpVersion" }
        let usual = URLClient.Configuration()
        if configuration.connectionIdleTimeout != usual.connectionIdleTimeout { return "connectionIdleTimeout" }
        if configuration.connectionLifetime != usual.connectionLifetime { return "connectionLifetime" }
        if !configuration.resolve.isEmpty { return "resolve" }
        return configuration.streamBufferLimit == nil ? nil : "streamBufferLimit"
    }

    /// Returns the default limit of the bytes that wait for a stream's reader, or nil for an engine without back
    /// pressure.
    ///
    /// - Parameter configuration: One that was chosen.
    static func streamBufferLimit(of configuration: URLClient.Configuration) -> Int? {
        configuration.engine == .libcurl ? configuration.streamBufferSize : nil
    }

    /// Creates the engine of a choice.
    ///
    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)``, also for a setting that the engine doesn't support.
    static func make(_ choice: Choice) throws(URLClientError) -> any Engine {
        let configuration = choice.configuration
        guard configuration.engine == .libcurl else {
            if let setting = settingForLibcurl(in: configuration) {
                throw .engineUnavailable(
                    reason: "\(setting) is not supported by .urlSession; use the engine .libcurl"
                        + (choice.description == "URLSession" ? "" : " (this is \(choice.description))")
                )
            }
            let session = configuration.makeSessionConfiguration()
            try BackgroundSessions.refuse(session)
            SessionSecurity.setMinimumVersion(of: configuration.tls, in: session)
            return URLSessionEngine(copying: session, security: try SessionSecurity(configuration.tls))
        }
        #if os(Linux)
        if let reason = SafeConfiguration.reasonForSession(configuration.session) {
            throw .engineUnavailable(reason: "\(reason), which .libcurl doesn't support; use the engine .urlSession")
        }
        if [configuration.tls, configuration.proxyTLS].contains(where: { $0.clientCertificate?.isArchive == true }) {
            throw .engineUnavailable(
                reason: "the client certificate is a PKCS#12 archive; .libcurl needs PEM files"
            )
        }
        return try LibcurlEngine(configuration)
        #else
        throw .engineUnavailable(reason: needsLinux)
        #endif
    }
}
