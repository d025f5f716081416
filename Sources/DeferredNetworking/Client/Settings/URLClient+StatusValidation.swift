extension URLClient {
    /// The statuses that count as success. Others fail a request with
    /// ``URLClientError/Code/unacceptableStatus(code:body:)``.
    public struct StatusValidation: Sendable {
        let accepts: @Sendable (HTTPStatus) -> Bool

        /// Accepts `200` to `299`.
        public static let successful = Self { $0.isSuccess }

        /// Accepts all statuses, so that the caller sees every response.
        public static let any = Self { _ in true }

        /// Accepts the statuses for which a closure returns true.
        public static func custom(_ accepts: @escaping @Sendable (_ status: HTTPStatus) -> Bool) -> Self {
            Self(accepts: accepts)
        }
    }
}
