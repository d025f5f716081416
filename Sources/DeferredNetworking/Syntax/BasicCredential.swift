import Foundation

/// The scheme Basic of RFC 7617.
package enum BasicCredential {
    /// The value for `Authorization`. The user name has no colon: the server would take it for the end of the name.
    package static func field(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
