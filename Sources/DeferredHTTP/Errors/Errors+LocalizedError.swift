public import Foundation

// Without these, `localizedDescription` would be "The operation could not be completed", and a number.

extension DeadlineExceeded: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension InvalidChain: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension HTTPBody.AlreadySent: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}
