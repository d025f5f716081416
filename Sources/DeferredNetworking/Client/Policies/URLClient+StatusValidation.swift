extension URLClient {
    /// Which statuses are successes. With others, a request fails with ``URLClientError/unacceptableStatus(code:body:)``.
    public struct StatusValidation: Sendable {
        let accepts: @Sendable (Int) -> Bool

        /// `200` to `299`.
        public static let successful = Self { (200..<300).contains($0) }

        /// All of them, so that the caller sees every response.
        public static let any = Self { _ in true }

        /// Those for which a closure says so.
        public static func custom(_ accepts: @escaping @Sendable (_ status: Int) -> Bool) -> Self {
            Self(accepts: accepts)
        }
    }
}
