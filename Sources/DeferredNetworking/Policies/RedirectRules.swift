package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The rules for redirect responses: RFC 9110, section 15.4, as browsers implement it.
package enum RedirectRules {
    enum Verdict {
        /// Sends this request instead.
        case follow(URLRequest, CheckedRequest.Body)

        /// The response can't be followed and is the result.
        case deliver

        case fail(URLError)
    }

    /// The default limit of redirects per transfer.
    package static let hopLimit = 20

    /// - Parameters:
    ///   - chain: the URLs that redirected, up to the one before `request`.
    ///   - limit: the maximum number of redirects to follow.
    ///   - originBoundFields: the fields, in lower case, that are for one origin only, besides secrets.
    static func verdict(
        on head: ResponseHead,
        to request: CheckedRequest,
        after chain: [URL],
        limit: Int = hopLimit,
        originBoundFields: Set<String> = []
    ) -> Verdict {
        let url = request.url
        guard let target = target(head.status.code, in: head.headers, from: url) else { return .deliver }
        guard chain.count < limit else {
            return .fail(tooMany(chain + [url, target]))
        }
        var next = request.request
        var body = request.body
        if dropsBody(status: head.status.code, method: request.method) {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            removeHeaders(from: &next, where: describesBody)
            body = .inRequest
        }
        if Origin(of: url) != Origin(of: target) {
            removeHeaders(from: &next) { isBoundToOrigin($0) || originBoundFields.contains($0) }
        }
        next.url = target
        return .follow(next, body)
    }

    /// Returns the `Location`, resolved with the inherited fragment, or nil if it can't be followed.
    package static func target(_ status: Int, in headers: HTTPHeaders, from url: URL) -> URL? {
        guard [301, 302, 303, 307, 308].contains(status), let location = location(in: headers),
            let target = URLReference.resolved(location, against: url),
            ["http", "https"].contains(target.scheme?.lowercased()),
            target.host(percentEncoded: true)?.isEmpty == false
        else { return nil }
        guard target.fragment == nil, let fragment = url.fragment(percentEncoded: true) else { return target }
        return URL(string: target.absoluteString + "#" + fragment) ?? target
    }

    /// Returns the `Location`; nil if there are several different ones, of which other recipients could choose another.
    private static func location(in headers: HTTPHeaders) -> String? {
        let locations = headers.values(for: "Location")
        return locations.dropFirst().allSatisfy { $0 == locations[0] } ? locations.first : nil
    }

    /// Returns the `Location` of a redirect in quotation marks, without credentials; nil for other responses.
    package static func shownLocation(_ status: Int, _ location: String?) -> String? {
        guard (300..<400).contains(status), let location else { return nil }
        return DisplayText.quoted(Redaction.reference(location))
    }

    /// Returns an error that names the last URLs of the chain; if it is a loop, they show it.
    private static func tooMany(_ chain: [URL]) -> URLError {
        let shown = chain.suffix(6).map { DisplayText.quoted($0) }.joined(separator: " → ")
        return URLError(
            .httpTooManyRedirects,
            failing: chain.last,
            description: "More than \(chain.count - 2) redirects: \(chain.count > 6 ? "… → " : "")\(shown)"
        )
    }

    package static func dropsBody(status: Int, method: String) -> Bool {
        switch status {
        case 301, 302: method == "POST"
        case 303: method != "GET" && method != "HEAD"
        default: false
        }
    }

    /// Returns true for fields that are of no use without a body: RFC 9110, sections 15.4 and 10.1.1.
    package static func describesBody(_ name: String) -> Bool {
        name.hasPrefix("content-")
            || ["transfer-encoding", "expect", "trailer", "digest", "repr-digest", "last-modified"].contains(name)
    }

    /// Returns true for secrets, which the caller meant for one origin only, and `Host`, which would name the old one.
    package static func isBoundToOrigin(_ name: String) -> Bool {
        // Not a secret, though it is called a key: without it, a repetition could act twice there.
        name == "host" || Redaction.isSecret(name) && name != "idempotency-key"
    }

    /// Removes the secrets that the library, or the first request, has for another origin than the one that the caller has
    /// chosen instead. What the caller has set itself stays.
    static func confine(_ next: inout URLRequest, like proposal: URLRequest, originBoundFields: Set<String>) {
        guard let url = next.url, let proposed = proposal.url, Origin(of: url) != Origin(of: proposed) else { return }
        for (name, value) in proposal.allHTTPHeaderFields ?? [:] {
            guard isBoundToOrigin(name.lowercased()) || originBoundFields.contains(name.lowercased()) else { continue }
            if next.value(forHTTPHeaderField: name) == value { next.setValue(nil, forHTTPHeaderField: name) }
        }
    }

    private static func removeHeaders(from request: inout URLRequest, where isRemoved: (String) -> Bool) {
        for name in (request.allHTTPHeaderFields ?? [:]).keys where isRemoved(name.lowercased()) {
            request.setValue(nil, forHTTPHeaderField: name)
        }
    }
}
