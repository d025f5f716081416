import Foundation

/// A challenge of the scheme Digest that can be answered: RFC 7616, section 3.3.
struct DigestChallenge: Sendable, Hashable {
    enum Hash: Sendable {
        case sha256, md5

        /// Returns the hash in hexadecimal digits.
        func text(_ bytes: some Collection<UInt8>) -> String {
            switch self {
            case .sha256: SHA256.text(bytes)
            case .md5: SHA256.hexadecimal(MD5.hash(bytes))
            }
        }

        func text(_ parts: String...) -> String { text(Array(parts.joined(separator: ":").utf8)) }
    }

    /// The parts of a request that the response covers.
    enum Protection: String, Sendable {
        case authentication = "auth"
        case integrity = "auth-int"
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let hash: Hash

    /// As the server spells it; nil if it names none, and so means MD5.
    let algorithm: String?
    let isSession: Bool

    /// nil for servers of RFC 2069, which know none.
    let protection: Protection?
    let hashesUser: Bool

    /// True if the credential was right, and only the nonce too old.
    let isStale: Bool

    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.isOf("Digest"), let realm = challenge["realm"], let nonce = challenge["nonce"] else {
            return nil
        }
        algorithm = challenge["algorithm"]
        switch algorithm?.uppercased() {
        case nil, "MD5": (hash, isSession) = (.md5, false)
        case "MD5-SESS": (hash, isSession) = (.md5, true)
        case "SHA-256": (hash, isSession) = (.sha256, false)
        case "SHA-256-SESS": (hash, isSession) = (.sha256, true)
        default: return nil
        }
        let offered = challenge["qop"].map { FieldList.members(of: $0).map { $0.lowercased() } }
        protection = [Protection.authentication, .integrity].first { offered?.contains($0.rawValue) ?? false }
        if offered != nil, protection == nil { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        // They are sent back in a field.
        if [realm, nonce, opaque ?? ""].contains(where: DisplayText.hasControls) { return nil }
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        isStale = challenge["stale"]?.lowercased() == "true"
    }

    /// Returns the one with the strongest hash; nil if there is none.
    static func best(of challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        let all = challenges.compactMap(DigestChallenge.init)
        return all.first { $0.hash == .sha256 } ?? all.first
    }

    /// Returns the value for `Authorization`: RFC 7616, section 3.4.
    ///
    /// - Parameters:
    ///   - target: The path and the query, as they are sent.
    ///   - count: How many requests have used the nonce, with this one.
    ///   - body: The bytes; nil if they aren't in memory.
    /// - Returns: nil if the server wants the body to be covered, and it isn't in memory.
    func field(
        user: String,
        password: String,
        method: String,
        target: String,
        count: UInt32,
        clientNonce: String,
        body: () -> Data?
    ) -> String? {
        var secret = hash.text(user, realm, password)
        if isSession { secret = hash.text(secret, nonce, clientNonce) }
        var covered = [method, target]
        if protection == .integrity {
            guard let body = body() else { return nil }
            covered.append(hash.text(body))
        }
        let request = hash.text(covered.joined(separator: ":"))
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        let response =
            if let protection {
                hash.text(secret, nonce, number, clientNonce, protection.rawValue, request)
            } else {
                hash.text(secret, nonce, request)
            }
        var parts = [
            name(of: user), "realm=" + FieldList.quoted(realm), "nonce=" + FieldList.quoted(nonce),
            "uri=" + FieldList.quoted(target),
            "response=" + FieldList.quoted(response),
        ]
        if let algorithm { parts.append("algorithm=" + algorithm) }
        if let opaque { parts.append("opaque=" + FieldList.quoted(opaque)) }
        if let protection { parts.append("qop=" + protection.rawValue + ", nc=" + number) }
        if protection != nil || isSession { parts.append("cnonce=" + FieldList.quoted(clientNonce)) }
        if hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func name(of user: String) -> String {
        if hashesUser { return "username=" + FieldList.quoted(hash.text(user, realm)) }
        guard !user.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return "username=" + FieldList.quoted(user) }
        // RFC 8187: what a quoted string can't hold.
        return "username*=UTF-8''" + PercentEncoding.encode(user, allowing: PercentEncoding.form.subtracting("*"))
    }
}
