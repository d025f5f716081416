/// Support for hosts such as `[::1]`.
///
/// swift-corelibs-foundation passes libcurl the address without its brackets, so that each such request fails with
/// `.badURL`: https://github.com/swiftlang/swift-corelibs-foundation/issues/5496, fixed by #5498, which is in no 6.4
/// release. Test: `CheckedRequestTests`, "an IPv6 literal is refused where Foundation cannot connect to it".
package enum IPv6Literals {
    package static var areSupported: Bool {
        #if canImport(FoundationNetworking) && !compiler(>=6.5)
        false
        #else
        true
        #endif
    }
}
