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

/// Returns how many random sequences, or rounds, to run: a tenth under a sanitizer, and ten times as many if
/// ``isThorough``.
package func rounds(_ count: Int) -> Int {
    isSanitized ? max(1, count / 10) : isThorough ? count * 10 : count
}

/// True for `DEFERRED_THOROUGH=1 swift test --filter …`, as in `.ci/full`.
package let isThorough = ProcessInfo.processInfo.environment["DEFERRED_THOROUGH"] != nil
