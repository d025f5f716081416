#if os(Linux)
import CLibcurl

/// The lines of a request's fields, as libcurl takes them: it keeps no copy. Confined to the engine's thread.
final class LibcurlHeaders {
    static let acceptedCodings = "Accept-Encoding: \(ContentDecoder.accepted)"

    private(set) var list: UnsafeMutablePointer<libcurl_slist>?

    init(_ lines: String...) { lines.forEach(add) }

    deinit { libcurl_slist_free(list) }

    /// Returns the lines to somebody who frees them.
    func take() -> UnsafeMutablePointer<libcurl_slist>? {
        defer { list = nil }
        return list
    }

    func add(_ line: String) {
        // If there is no memory for another line, the list stays as it is.
        list = libcurl_slist_append(list, line) ?? list
    }
}
#endif
