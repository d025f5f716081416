import Foundation

/// True if the networking tests run over libcurl: `DEFERRED_ENGINE=libcurl swift test --filter …`.
package let isLibcurlTested = ProcessInfo.processInfo.environment["DEFERRED_ENGINE"] == "libcurl"
