import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Chooses the cookies of requests, and stores those of responses, in a storage of the caller's: RFC 6265, sections
/// 5.3 and 5.4, and of its revision the rules that only `https` sets and replaces secure cookies, and about the prefixes
/// of names.
///
/// Foundation on Linux sends secure cookies without TLS and cookies of other paths, and keeps those that are to be
/// deleted. There is no list of public suffixes: a server of "a.co.uk" can set a cookie for "co.uk".
///
/// SAFETY: a storage is thread-safe, but not marked so on all platforms.
package struct CookieJar: @unchecked Sendable {
    private let storage: HTTPCookieStorage
    private let policy: HTTPCookie.AcceptPolicy
    private let isSending: Bool
    /// Stores cookies in the order of their responses, and lets no other session wait for that.
    let queue = DispatchQueue(label: "Deferred.cookies", target: .global(qos: .userInitiated))

    /// The most cookies of a response that are stored, as in browsers. The rest is ignored.
    private static let mostCookies = 180

    /// - Parameters:
    ///   - policy: The cookies to store, unless the storage itself accepts none.
    ///   - isSending: false if stored cookies are not to be sent.
    init(_ storage: HTTPCookieStorage, policy: HTTPCookie.AcceptPolicy = .always, isSending: Bool = true) {
        self.storage = storage
        self.policy = policy
        self.isSending = isSending
    }

    /// Returns a request with the cookies for it, unless it has its own.
    func adding(to request: CheckedRequest) -> CheckedRequest {
        guard isSending, request.value(of: "Cookie") == nil, let value = header(for: request.url)
        else { return request }
        return request.setting(value, for: "Cookie")
    }

    /// Returns the value of the `Cookie` field for a URL, or nil if there are none.
    func header(for url: URL, now: Date = Date()) -> String? {
        let pairs = cookies(for: url, now: now).map { "\($0.name)=\($0.value)" }.filter { pair in
            (try? RequestGrammar.check(fieldNamed: "Cookie", value: pair)) != nil
        }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    private func cookies(for url: URL, now: Date) -> [HTTPCookie] {
        guard let place = CookiePlace(url) else { return [] }
        return unexpired(now).filter { cookie in
            place.isIn(domain: cookie.domain) && place.isIn(path: cookie.path) && (place.isSecure || !cookie.isSecure)
        }.sorted { ($1.path.utf8.count, $0.name) < ($0.path.utf8.count, $1.name) }
    }

    /// Returns the cookies that haven't expired: the storage keeps the others until another one is set.
    private func unexpired(_ now: Date) -> [HTTPCookie] {
        (storage.cookies ?? []).filter { cookie in cookie.expiresDate.map { $0 > now } ?? true }
    }

    /// Stores the cookies of a response's head, and calls `body` on another thread when that is done.
    func store(_ head: ResponseHead, mainDocument: URL?, then body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            store(head, mainDocument: mainDocument)
            body()
        }
    }

    /// Stores the cookies of a response's head.
    ///
    /// - Parameter mainDocument: The page for which the request was made, which matters only if the policy says so.
    func store(_ head: ResponseHead, mainDocument: URL? = nil, now: Date = Date()) {
        guard head.status.code >= 200, isAccepting(from: head.url, for: mainDocument) else { return }
        let texts = head.headers.lazy.filter { HTTPToken.areEqualWithoutCase($0.name, "Set-Cookie") }
            .flatMap { head.areFieldsJoined ? SetCookie.separated($0.value) : [$0.value] }
        for text in texts.prefix(Self.mostCookies) {
            SetCookie(text, now: now).map { store($0, from: head.url, now: now) }
        }
    }

    private func isAccepting(from url: URL, for mainDocument: URL?) -> Bool {
        guard policy != .never, storage.cookieAcceptPolicy != .never else { return false }
        guard policy == .onlyFromMainDocumentDomain || storage.cookieAcceptPolicy == .onlyFromMainDocumentDomain,
            let mainDocument, let main = CookiePlace(mainDocument), let host = CookiePlace(url)?.host
        else { return true }
        return main.isIn(domain: "." + host)
    }

    private func store(_ received: SetCookie, from url: URL, now: Date) {
        guard let place = CookiePlace(url), let domain = place.domain(named: received.domain) else { return }
        guard received.keepsPromise(where: place.isSecure) else { return }
        if !place.isSecure, received.isSecure || hidesSecureCookie(received.name, domain, now) { return }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: received.name, .value: received.value, .domain: domain,
            .path: received.path ?? place.defaultPath,
        ]
        if received.isSecure { properties[.secure] = "TRUE" }
        if let expires = received.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        guard let cookie = HTTPCookie(properties: properties) else { return }
        if let expires = received.expires, expires <= now {
            storage.deleteCookie(cookie)
        } else {
            storage.setCookie(cookie)
        }
    }

    /// Returns whether a cookie without TLS would take the place of one that was set with it, or be sent beside it. Either
    /// domain may be a part of the other: the revision of RFC 6265, section 5.7.
    private func hidesSecureCookie(_ name: String, _ domain: String, _ now: Date) -> Bool {
        func dotted(_ domain: String) -> String {
            domain.hasPrefix(".") ? domain.lowercased() : "." + domain.lowercased()
        }
        let new = dotted(domain)
        return unexpired(now).contains { cookie in
            guard cookie.isSecure, cookie.name == name else { return false }
            let old = dotted(cookie.domain)
            return old.hasSuffix(new) || new.hasSuffix(old)
        }
    }
}

/// The parts of a URL on which cookies depend: RFC 6265, section 5.1.
struct CookiePlace {
    /// In lower case.
    let host: String
    let path: String
    let isSecure: Bool

    init?(_ url: URL) {
        guard let host = url.host(percentEncoded: true), !host.isEmpty else { return nil }
        self.host = host.lowercased()
        let path = url.path(percentEncoded: true)
        self.path = path.hasPrefix("/") ? path : "/"
        isSecure = url.scheme?.lowercased() == "https"
    }

    /// Addresses have no subdomains.
    private var isAddress: Bool {
        host.contains(":") || host.split(separator: ".").last?.allSatisfy(\.isNumber) ?? false
    }

    /// The path of a cookie that names none.
    var defaultPath: String {
        let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return folder.isEmpty ? "/" : String(folder)
    }

    /// - Parameter domain: As Foundation writes it: with a dot in front, it includes the subdomains.
    func isIn(domain: String) -> Bool {
        let domain = domain.lowercased()
        guard domain.hasPrefix(".") else { return host == domain }
        return host == domain.dropFirst() || !isAddress && host.hasSuffix(domain)
    }

    func isIn(path other: String) -> Bool {
        guard path.hasPrefix(other) else { return false }
        let rest = path.dropFirst(other.count)
        return rest.isEmpty || other.hasSuffix("/") || rest.hasPrefix("/")
    }

    /// Returns the domain for a cookie whose `domain` is `name`, or nil if this host must not set it.
    func domain(named name: String?) -> String? {
        guard let name, !name.isEmpty else { return host }
        if name == host { return isAddress || !name.contains(".") ? host : "." + name }
        return !isAddress && name.contains(".") && host.hasSuffix("." + name) ? "." + name : nil
    }
}
