public import Foundation

extension HTTPRequest {
    /// The form in which a response's body is handed over.
    public enum Delivery: Sendable, Hashable {
        /// In memory, when all of it is there: ``HTTPResponse/body``.
        case data

        /// As it comes, from the moment when the head is there: ``HTTPResponse/stream``.
        case stream

        /// In a file, when all of it is there: ``HTTPResponse/file``.
        ///
        /// The bytes go to a file beside it, which takes its place in one step. With `resuming`, what a failed download
        /// leaves there is used by the next one, if the server still has the same file.
        case file(URL, resuming: Bool = true)
    }

    /// The form in which the response's body is wanted. By default, in memory.
    public var delivery: Delivery {
        get { self[DeliveryOption.self] }
        set { self[DeliveryOption.self] = newValue }
    }
}

private enum DeliveryOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.Delivery.data
}
