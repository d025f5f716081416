/// A `Content-Length` that the caller sets for a stream.
///
/// swift-corelibs-foundation gives libcurl streams without their length, which so go out in chunks, beside the field: servers
/// disagree about where such a request ends. No issue is known upstream. Test: `CheckedRequestTests`, "A stream with a length
/// is refused where it would go out in chunks".
enum StreamedLengths {
    static var areHonoured: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }
}
