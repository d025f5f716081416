extension Sequence where Element: FutureProtocol {
    /// A future of the value that is there first.
    ///
    /// For the fastest of several answers, or for an answer and what should end the wait for it.
    ///
    /// ```swift
    /// let answer = [primary, mirror].firstFilled()
    /// ```
    ///
    /// - Returns: A future that is filled once any of the futures is; at once if one is filled already, and then with the
    ///   first such. The result of an empty sequence is never filled. Nor is the result if all the futures go unfilled.
    /// - Complexity: O(*n*) in the number of futures, up to the first that is filled already: what comes after it is not
    ///   looked at. Being filled costs another O(*n*), for taking back the handlers of the others.
    ///
    /// The losers' handlers are taken back, and what they hold is freed, when the first future is filled, not when the
    /// losers are: a long-lived future may take part in any number of these. The result is filled on the thread that
    /// fills the winner, after that.
    ///
    /// Until one is filled, the futures keep the result. Dropping the result takes nothing back.
    @inlinable
    public func firstFilled() -> Future<Element.Value> {
        let result = FirstFilledStorage<Element.Value>()
        for future in self {
            guard result.add(future) else { break }
        }
        result.endAdding()
        return Future(result)
    }
}
