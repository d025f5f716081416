import Foundation

/// The public key of a certificate with its algorithm, whose digest is pinned: RFC 5280, section 4.1.
///
/// No framework gives these bytes: Security has only the key, in a format that depends on the algorithm.
enum SubjectPublicKeyInfo {
    /// - Parameter certificate: The certificate, in DER.
    /// - Returns: The key, in DER; nil if the data is not a certificate.
    static func of(certificate: Data) -> Data? {
        var reader = DERReader(rest: Array(certificate)[...])
        // The certificate, and the part of it that is signed.
        for _ in 1...2 {
            guard let outer = reader.next(0x30) else { return nil }
            reader = DERReader(rest: outer.content)
        }
        // The version, which is left out for the first.
        _ = reader.next(0xA0)
        // Serial number, signature algorithm, issuer, validity, subject.
        for tag: UInt8 in [0x02, 0x30, 0x30, 0x30, 0x30] {
            guard reader.next(tag) != nil else { return nil }
        }
        return reader.next(0x30).map { Data($0.whole) }
    }
}

/// Reads values in DER, one behind the other: ITU-T X.690, section 10.
private struct DERReader {
    var rest: ArraySlice<UInt8>

    /// Returns the next value and moves on, if the value has this tag; otherwise returns nil, and stays.
    mutating func next(_ tag: UInt8) -> (whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
        var header = rest
        guard header.popFirst() == tag, let first = header.popFirst() else { return nil }
        var length = Int(first)
        if first & 0x80 != 0 {
            // Four bytes hold what any certificate has.
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), header.count >= count else { return nil }
            length = header.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            header = header.dropFirst(count)
        }
        guard header.count >= length else { return nil }
        let content = header.prefix(length)
        let whole = rest.prefix(upTo: content.endIndex)
        rest = rest.suffix(from: content.endIndex)
        return (whole, content)
    }
}

/// Certificates and the like as text: RFC 7468.
enum PEM {
    /// Returns the bytes of each block with this label, in order; nil if one of them is malformed, or there is none.
    static func blocks(_ label: String, in data: Data) -> [Data]? {
        let text = String(decoding: data, as: UTF8.self)
        let parts = text.split(separator: "-----BEGIN \(label)-----", omittingEmptySubsequences: false).dropFirst()
        let blocks = parts.map { part -> Data? in
            let body = part.split(separator: "-----END \(label)-----", omittingEmptySubsequences: false)
            guard body.count > 1 else { return nil }
            return Data(base64Encoded: String(body[0].filter { !$0.isWhitespace })).flatMap { $0.isEmpty ? nil : $0 }
        }
        return blocks.isEmpty || blocks.contains(nil) ? nil : blocks.compactMap { $0 }
    }
}
