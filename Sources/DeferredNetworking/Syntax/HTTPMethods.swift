/// Properties of the standard methods: RFC 9110, section 9.2.
package enum HTTPMethods {
    /// Those that only read.
    package static let safe: Set = ["GET", "HEAD", "OPTIONS", "TRACE"]

    /// Those that have the effect of being sent once, however often they are.
    package static let idempotent: Set = safe.union(["PUT", "DELETE"])
}
