import Foundation

/// True if the networking tests run over libcurl: `DEFERRED_ENGINE=libcurl swift test --filter …`.
package let isLibcurlTested = ProcessInfo.processInfo.environment["DEFERRED_ENGINE"] == "libcurl"

/// Returns how many random sequences, or rounds, to run: fewer under a sanitizer, and ten times as many for
/// `DEFERRED_THOROUGH=1 swift test --filter …`, as `.ci/full` does.
package func rounds(_ count: Int) -> Int {
    isSanitized ? count / 2 : isThorough ? count * 10 : count
}

private let isThorough = ProcessInfo.processInfo.environment["DEFERRED_THOROUGH"] != nil
