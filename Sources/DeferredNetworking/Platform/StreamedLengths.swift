/// Support for a `Content-Length` that the caller sets for a stream.
///
/// swift-corelibs-foundation passes streams to libcurl without their length. They are therefore sent in chunks, in
/// addition to the field, and nothing compares the two: servers disagree about where such a request ends. Counting the
/// bytes wouldn't help, since the framing stays. No issue is known upstream. Tests: `CheckedRequestTests`, "a stream
/// with a length is refused where it would go out in chunks"; `URLClientTests`, "five bytes under a Content-Length of
/// two are refused at every door".
enum StreamedLengths {
    static var areHonoured: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }
}
