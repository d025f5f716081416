import Foundation

/// True if clients run over libcurl in the networking tests, as they do by default on Linux. They run over `URLSession`
/// with `DEFERRED_ENGINE=urlsession swift test --filter …`.
package let isLibcurlTested: Bool = {
    #if os(Linux)
    ProcessInfo.processInfo.environment["DEFERRED_ENGINE"] != "urlsession"
    #else
    false
    #endif
}()

/// Returns how many random sequences, or rounds, to run: fewer under a sanitizer, and ten times as many for
/// `DEFERRED_THOROUGH=1 swift test --filter …`, as `.ci/full` does.
package func rounds(_ count: Int) -> Int {
    isSanitized ? count / 2 : isThorough ? count * 10 : count
}

private let isThorough = ProcessInfo.processInfo.environment["DEFERRED_THOROUGH"] != nil
