extension Collection where Element: FutureProtocol {
    /// Returns a future of all the values, in the order of the collection, filled when the last of them is available.
    ///
    /// Use it to wait for all parts of work that was fanned out. For a fixed number of futures of different types, use
    /// ``zip(_:)``.
    ///
    /// ```swift
    /// let pages = urls.map { fetch($0) }.allFilled()  // Future<[Page]>
    /// ```
    ///
    /// - Returns: A future that is filled at once if the collection is empty, or all its futures are filled. If one of
    ///   them is dropped unfilled, the result is never filled.
    /// - Complexity: O(*n*) in the number of futures, with one allocation for each that is not filled yet. Filling the
    ///   last future takes another O(*n*) to create the array.
    ///
    /// The result is filled on the thread that fills the last of the futures. Until then, each future retains the
    /// result, and the result retains the futures that are filled, but not the others.
    @inlinable
    public func allFilled() -> Future<[Element.Value]> {
        let count = count
        let result = Gathering<[Element.Value]>(count: count) { inputs in
            (0..<count).map { _ in inputs.value() }
        }
        var index = 0
        for future in self {
            precondition(index < count, "a collection has more elements than its count of \(count)")
            result.add(future.future.storage, at: index)
            index += 1
        }
        precondition(index == count, "a collection has \(index) elements, but a count of \(count)")
        result.endAdding()
        return Future(result)
    }
}
