import Foundation

enum ProcessExit {
    /// Ends the process at once, without handlers that run at exit.
    ///
    /// Threads of URLSession may still be inside OpenSSL, which an orderly exit takes apart under them
    /// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5469). All output is unbuffered.
    static func now(_ code: Int32) -> Never {
        _exit(code)
    }
}
