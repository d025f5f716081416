public import DeferredCore

extension Deferred {
    /// Fills the future with a success, unless it is filled.
    ///
    /// - Returns: True for exactly one caller, ever.
    @inlinable
    @discardableResult
    public func succeed<Success>(with value: Success) -> Bool where Value == Result<Success, any Error> {
        let result = Value.success(value)
        return future.storage.fill(with: result, isTrivial: result.isTrivial)
    }

    /// Fills the future with a failure, unless it is filled.
    ///
    /// - Returns: True for exactly one caller, ever.
    @inlinable
    @discardableResult
    public func fail<Success>(with error: any Error) -> Bool where Value == Result<Success, any Error> {
        fill(with: .failure(error))
    }

    /// Fills the future with a success without a value, unless it is filled.
    @inlinable
    @discardableResult
    public func succeed() -> Bool where Value == Result<Void, any Error> {
        fill(with: .success(()))
    }
}
