/// Properties of the standard methods: RFC 9110, section 9.2.
package enum HTTPMethods {
    /// The methods that only read.
    package static let safe: Set = ["GET", "HEAD", "OPTIONS", "TRACE"]

    /// The methods for which sending a request repeatedly has the same effect as sending it once.
    package static let idempotent: Set = safe.union(["PUT", "DELETE"])
}
