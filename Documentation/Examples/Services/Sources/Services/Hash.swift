import Crypto
import Foundation

/// The hashes of swift-crypto, in the forms that services want.
enum Hash {
    static func text(_ bytes: some DataProtocol) -> String { digits(SHA256.hash(data: bytes)) }

    static func digits(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the authentication code of a message: RFC 2104.
    static func code(of message: String, with key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: SymmetricKey(data: key)))
    }
}

/// The names of contents in a registry.
package enum Digest {
    /// Returns the name of bytes.
    package static func text(_ bytes: some DataProtocol) -> String { "sha256:" + Hash.text(bytes) }
}
