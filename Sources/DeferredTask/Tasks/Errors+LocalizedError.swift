public import Foundation

// Without these, `localizedDescription` would be "The operation could not be completed", and a number.

extension TimeoutError: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension BrokenPromise: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension CircularTask: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension AllTasksFailed: LocalizedError {
    /// The line of ``description``, with the `localizedDescription` of each error.
    public var errorDescription: String? { line { $0.localizedDescription } }
}
