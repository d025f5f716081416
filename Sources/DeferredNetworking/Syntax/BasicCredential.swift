import Foundation

/// The authentication scheme Basic: RFC 7617.
package enum BasicCredential {
    /// Returns the value for `Authorization`.
    package static func field(user: String, password: String) throws(URLClientError) -> String {
        guard !user.contains(":") else {
            throw .invalidRequest(
                reason: "the user name \(DisplayText.quoted(user)) of the credential contains a colon, "
                    + "which separates it from the password; use a name without one"
            )
        }
        guard !DisplayText.hasControls(user + password) else {
            throw .invalidRequest(reason: "the user name or the password contains control characters; remove them")
        }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
