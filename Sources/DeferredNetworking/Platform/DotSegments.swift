import Foundation

/// Paths with segments such as `..`, and their support by `URLSession`.
///
/// swift-corelibs-foundation doesn't set `CURLOPT_PATH_AS_IS`, so that libcurl requests `/b` for `/a/../b`, with a
/// signature of the other path; of Apple's platforms, nothing is documented. Test: `URLClientTests`, "dot segments are
/// sent as they are given, or refused".
enum DotSegments {
    /// Refuses a URL whose path `URLSession` would change.
    static func check(_ url: URL) throws(URLClientError) {
        guard PathSegments.hasDots(url.path(percentEncoded: true)) else { return }
        throw .invalidRequest(
            reason:
                "the path of \(DisplayText.quoted(url)) has a segment \".\" or \"..\", which URLSession resolves, so "
                + "that another resource would be requested; use the engine libcurl, which sends it as it is, or a path "
                + "without one"
        )
    }
}
