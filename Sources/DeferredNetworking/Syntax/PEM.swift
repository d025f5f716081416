import Foundation

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
