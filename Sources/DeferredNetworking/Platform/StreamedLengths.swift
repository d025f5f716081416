internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Support for the `Content-Length` of a stream.
///
/// swift-corelibs-foundation passes streams to libcurl without their length. They are therefore sent in chunks, in
/// addition to the field, and nothing compares the two: servers disagree about where such a request ends. Counting the
/// bytes wouldn't help, since the framing stays. No issue is known upstream. Tests: `CheckedRequestTests`, "a stream
/// with a length is refused where it would go out in chunks"; `URLClientTests`, "five bytes under a Content-Length of
/// two are refused at every door".
///
/// A length that is known, as for a file, is announced as ``FileBodies`` describes, and ``SentStream`` sees to it that the
/// body has it.
enum StreamedLengths {
    /// Sets the header fields of a body whose length is known.
    static func announce(_ length: Int64, in request: inout URLRequest) {
        request.setValue(String(length), forHTTPHeaderField: "Content-Length")
        guard SessionPlatform.isCorelibs else { return }
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        if request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue(" ", forHTTPHeaderField: "Content-Type")
        }
    }

    static var areHonoured: Bool { !SessionPlatform.isCorelibs }
}
