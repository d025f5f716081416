import DeferredHTTP
import DeferredNetworking
import TestSupport

extension URLSessionLoader {
    /// Returns a loader over the engine under test.
    static func underTest(_ configuration: URLClient.Configuration = .default) -> URLSessionLoader {
        var configuration = configuration
        if !isLibcurlTested { configuration.engine = .urlSession }
        return URLSessionLoader(configuration: configuration)
    }

    /// A loader over each engine of this platform.
    static var each: [URLSessionLoader] {
        var configurations = [URLClient.Configuration()]
        configurations[0].engine = .urlSession
        #if os(Linux)
        configurations.append(configurations[0])
        configurations[1].engine = .libcurl
        #endif
        return configurations.map { URLSessionLoader(configuration: $0) }
    }
}
