/// A `Content-Length` that the caller sets for a stream.
///
/// swift-corelibs-foundation gives libcurl streams without their length. So they go out in chunks, all of them, beside
/// the field, which nobody compares with what is sent: servers disagree about where such a request ends. Counting
/// wouldn't help, since the framing stays. No issue is known upstream. Tests: `CheckedRequestTests`, "A stream with a
/// length is refused where it would go out in chunks"; `URLClientTests`, "five bytes under a Content-Length of two are
/// refused at every door".
enum StreamedLengths {
    static var areHonoured: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }
}
