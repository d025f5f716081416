import DeferredHTTP
import DeferredNetworking
import TestSupport

extension URLSessionLoader {
    /// Returns a loader over the engine under test.
    static func underTest(_ configuration: URLClient.Configuration = .default) -> URLSessionLoader {
        var configuration = configuration
        if isLibcurlTested { configuration.engine = .libcurl }
        return URLSessionLoader(configuration: configuration)
    }
}
