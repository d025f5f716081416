extension Sequence where Element: FutureProtocol {
    /// Returns a future of the value of the first future to be filled.
    ///
    /// Use it for the fastest of several answers, or to race an answer against a future that ends the wait.
    ///
    /// ```swift
    /// let answer = [primary, mirror].firstFilled()
    /// ```
    ///
    /// - Returns: A future that is filled once any of the futures is; at once if some are already filled, with the
    ///   value of the first of them in the sequence. It is never filled if the sequence is empty, or if all the futures
    ///   are dropped unfilled.
    /// - Complexity: O(*n*) in the number of futures up to the first that is already filled; later ones are not
    ///   examined. Filling the result takes another O(*n*), to cancel the handlers of the other futures.
    ///
    /// The losers' handlers are cancelled, and their captures released, when the first future is filled, not when the
    /// losers are: a long-lived future may take part in any number of races. After that, the result is filled on the
    /// thread that fills the winner.
    ///
    /// Until one is filled, the futures retain the result. Dropping the result cancels no handlers.
    @inlinable
    public func firstFilled() -> Future<Element.Value> {
        let result = FirstFilledStorage<Element.Value>()
        for future in self {
            guard result.add(future) else { break }
        }
        result.removeLosersIfSecond()
        return Future(result)
    }
}
