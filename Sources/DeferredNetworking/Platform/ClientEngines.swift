/// The engines that there are.
///
/// Over `URLSession`, servers on Linux can end or freeze the process, and all sessions share one queue; there, a client may
/// be over libcurl itself. Tests: all of `URLClientTests`, with `DEFERRED_ENGINE=libcurl` in the environment.
enum ClientEngines {
    /// Makes the engine that a configuration asks for.
    ///
    /// - Throws: ``URLClientError/engineUnavailable(reason:)``.
    static func make(_ configuration: URLClient.Configuration) throws(URLClientError) -> any Engine {
        switch configuration.engine {
        case .urlSession:
            return URLSessionEngine(copying: configuration.makeSessionConfiguration())
        case .libcurl:
            #if os(Linux)
            return try LibcurlEngine(configuration)
            #else
            throw .engineUnavailable(reason: "the engine .libcurl is for Linux; use .urlSession, which is safe here")
            #endif
        }
    }
}
