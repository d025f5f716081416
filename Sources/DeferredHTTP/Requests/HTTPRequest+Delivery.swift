public import Foundation

extension HTTPRequest {
    /// The form in which a response's body is delivered.
    public enum Delivery: Sendable, Hashable {
        /// In memory, when the whole body has arrived: ``HTTPResponse/body``.
        case data

        /// As a stream, from the moment when the head has arrived: ``HTTPResponse/stream``.
        case stream

        /// In a file, when the whole body has arrived: ``HTTPResponse/file``.
        ///
        /// The bytes are written to a partial file next to it, which then replaces it atomically. With `resuming`, a
        /// failed download leaves the partial file for the next one to continue, if the server still has the same file.
        case file(URL, resuming: Bool = true)
    }

    /// The form in which the response's body is to be delivered. By default, in memory.
    public var delivery: Delivery {
        get { self[DeliveryOption.self] }
        set { self[DeliveryOption.self] = newValue }
    }
}

private enum DeliveryOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.Delivery.data
}
