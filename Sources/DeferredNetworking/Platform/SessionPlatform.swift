/// The implementation of `URLSession` that this library is built with.
enum SessionPlatform {
    /// True for swift-corelibs-foundation's, which has the gaps that this folder is about; false for Apple's.
    static var isCorelibs: Bool {
        #if canImport(FoundationNetworking)
        true
        #else
        false
        #endif
    }
}
