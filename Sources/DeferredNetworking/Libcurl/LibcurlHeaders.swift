#if os(Linux)
import CLibcurl

/// The lines of a request's fields, as libcurl takes them: it keeps no copy.
///
/// SAFETY: confined to the engine's thread; `plain` is shared by all of them, and isn't changed.
final class LibcurlHeaders: @unchecked Sendable {
    /// The fields of a request that has none of its own, and no body.
    static let plain = LibcurlHeaders(acceptedCodings)

    static let acceptedCodings = "Accept-Encoding: \(ContentDecoder.accepted)"

    private(set) var list: UnsafeMutablePointer<libcurl_slist>?

    init(_ lines: String...) { lines.forEach(add) }

    deinit { libcurl_slist_free(list) }

    func add(_ line: String) {
        // If there is no memory for another line, the list stays as it is.
        list = libcurl_slist_append(list, line) ?? list
    }
}
#endif
