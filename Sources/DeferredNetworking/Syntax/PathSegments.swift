/// The dot segments of a path: RFC 3986, section 5.2.4.
///
/// Those of a reference are resolved. Those of a request are sent: in an object store, `a/../b` is the name of an object.
package enum PathSegments {
    /// Returns a percent-encoded path without dot segments.
    ///
    /// - Complexity: O(*n*); without a dot segment, the path is only looked through.
    package static func resolved(_ path: String) -> String {
        guard mayHaveDots(path) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let segments = path.dropFirst(isAbsolute ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
        var result: [Substring] = []
        for (index, segment) in segments.enumerated() {
            switch segment {
            case ".": break
            case "..": _ = result.popLast()
            default:
                result.append(segment)
                continue
            }
            // The path ends with the slash before its last segment.
            if index == segments.count - 1 { result.append("") }
        }
        return (isAbsolute ? "/" : "") + result.joined(separator: "/")
    }

    /// Returns true if a segment of a percent-encoded path means its folder or the one above to those who resolve dots.
    /// As in the WHATWG URL standard, `%2e` is a dot to them.
    package static func hasDots(_ path: String) -> Bool {
        mayHaveDots(path)
            && path.split(separator: "/").contains { segment in
                [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
            }
    }

    /// Returns true if a segment begins with a dot or with `%`.
    private static func mayHaveDots(_ path: String) -> Bool {
        path.withBytes { bytes in
            var previous = UInt8(ascii: "/")
            for byte in bytes {
                if previous == UInt8(ascii: "/"), byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%") { return true }
                previous = byte
            }
            return false
        }
    }
}
