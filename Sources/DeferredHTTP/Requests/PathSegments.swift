internal import DeferredNetworking

/// The dot segments of a path: RFC 3986, section 5.2.4.
///
/// Everything below the chain resolves them, URLSession, libcurl and servers. So the request resolves them first, and its
/// path is the one that is sent. As in the WHATWG URL standard, `%2e` is a dot.
enum PathSegments {
    /// Returns a percent-encoded path without dot segments.
    ///
    /// - Complexity: O(*n*); without a dot segment, the path is only looked through.
    static func resolved(_ path: String) -> String {
        guard mayHaveDots(path) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let segments = path.dropFirst(isAbsolute ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
        var result: [Substring] = []
        for (index, segment) in segments.enumerated() {
            switch dots(segment) {
            case 0:
                result.append(segment)
                continue
            case 1:
                break
            default:
                _ = result.popLast()
            }
            // The path ends with the slash before its last segment.
            if index == segments.count - 1 { result.append("") }
        }
        return (isAbsolute ? "/" : "") + result.joined(separator: "/")
    }

    /// Returns true if a segment begins with a dot or with `%2`.
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

    /// Returns 1 or 2 for a segment of so many dots, and 0 for any other.
    private static func dots(_ segment: Substring) -> Int {
        switch segment.lowercased() {
        case ".", "%2e": 1
        case "..", ".%2e", "%2e.", "%2e%2e": 2
        default: 0
        }
    }
}
