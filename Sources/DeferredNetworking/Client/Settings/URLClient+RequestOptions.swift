package import Foundation

extension URLClient {
    /// Settings of a single request that override those of its client.
    ///
    /// ```swift
    /// var options = URLClient.RequestOptions()
    /// options.total = .seconds(2)
    /// options.retries = URLClient.Retries.none
    /// let task = client.begin(request, options: options)
    /// ```
    public struct RequestOptions: Sendable {
        /// The importance of the request relative to others, from 0 to 1; `nil` for the platform's default. A hint to
        /// the system.
        public var priority: Float?

        /// The longest time for the whole request; `nil` for ``Deadlines/total``.
        public var total: Duration?

        /// The failures to retry; `nil` for ``Configuration/retries``.
        public var retries: Retries?

        /// The statuses that count as success; `nil` for ``Configuration/validation``. Downloads accept only 200 to
        /// 299.
        public var validation: StatusValidation?

        /// A closure that gets the events of this request, after ``Configuration/monitor`` and under the same conditions.
        public var monitor: (@Sendable (Event) -> Void)?

        /// The longest silence; `nil` for ``Deadlines/idle``, or the request's own time-out, and `.noLimit` for none.
        public var idle: Duration?

        /// A Boolean value that indicates whether an upload of data or of a file that breaks off is resumed, if the server
        /// offers that: draft-ietf-httpbis-resumable-upload, in its version 8.
        ///
        /// The server offers it by an interim response of 104, whose `Location` must be of the request's origin. After a
        /// failure that ``Retries`` call transient, whatever the method, the next attempt asks there how much has arrived,
        /// and sends the rest by `PATCH`; the response to that is the upload's. The file must not change meanwhile. Such
        /// attempts count, and pause, like others. Only over ``Configuration/Engine/libcurl``; otherwise, and with a stream
        /// or a part of a file as the body, the request fails with ``URLClientError/Code/invalidRequest(reason:)``.
        public var resumesUpload = false

        /// A closure that gets the interim responses, such as a 103 with the links that the page will need; `nil` for none.
        ///
        /// It gets at most 16 of each response, in order and before the response, from the engine's thread, which it must
        /// not block, and with the task-locals of the caller. A 100, by which a server asks for the body, is not among
        /// them. Only over ``Configuration/Engine/libcurl``: `URLSession` doesn't tell of them, and a request fails there
        /// with ``URLClientError/Code/invalidRequest(reason:)``.
        public var onInterimResponse: (@Sendable (ResponseHead) -> Void)?

        /// A name that separates the stored responses to this request, in the `cache` of the configuration, from those to requests
        /// with another name, or with none.
        ///
        /// For users who share a cache and are told apart by nothing that the cache can see: a cookie that the client adds
        /// below it, or a client certificate. Without a name, one of them gets a response that was meant for another, if the
        /// server lets it be stored and names no field in `Vary`.
        public var cachePartition: String?

        /// The highest rate at which the response's body is received, in bytes a second, at least 1; `nil` for no
        /// limit.
        ///
        /// The limit counts bytes as they come, before they are decompressed, and holds for each attempt. The client
        /// reads the bytes of an eighth of a second at once, at least 1 KiB, and then waits. The server has to wait as
        /// soon as the buffers on the way are full. The waits don't count as silence for ``idle``, but they count for
        /// ``total``. Unless ``Configuration/httpVersion`` requires HTTP/2, the request uses HTTP/1.1, so that it holds
        /// up no other.
        ///
        /// A response that comes from the cache of the configuration has no limit. Of equal requests that a cache sends once,
        /// the limit of the first one counts.
        ///
        /// Only over ``Configuration/Engine/libcurl``: `URLSession` reads as fast as it can, and a request with a limit
        /// fails there with ``URLClientError/Code/invalidRequest(reason:)``. So does a limit of less than 1, over either.
        public var rateLimit: Int?

        /// The redirects to follow; `nil` for ``Configuration/redirects``.
        package var redirects: RedirectPolicy?

        /// The names of header fields that redirects don't carry to another origin, in addition to secrets.
        package var originBoundFields: [String] = []

        /// The identifier of the request of a chain that this one is for.
        package var task: UUID?

        /// Creates options that by default leave the client's configuration as it is.
        public init(
            priority: Float? = nil,
            total: Duration? = nil,
            retries: Retries? = nil,
            validation: StatusValidation? = nil,
            monitor: (@Sendable (Event) -> Void)? = nil,
            idle: Duration? = nil,
            resumesUpload: Bool = false,
            onInterimResponse: (@Sendable (ResponseHead) -> Void)? = nil,
            cachePartition: String? = nil,
            rateLimit: Int? = nil
        ) {
            self.priority = priority
            self.total = total
            self.retries = retries
            self.validation = validation
            self.monitor = monitor
            self.idle = idle
            self.resumesUpload = resumesUpload
            self.onInterimResponse = onInterimResponse
            self.cachePartition = cachePartition
            self.rateLimit = rateLimit
        }

        /// Refuses a rate at which no response would ever end.
        func checkRateLimit() throws(URLClientError) {
            guard let rateLimit, rateLimit < 1 else { return }
            throw .invalidRequest(
                reason: "the rate limit of \(rateLimit) bytes a second lets no response come; "
                    + "use at least 1, or nil for none"
            )
        }

        /// Refuses to resume a request that can't be.
        func refuseResumedUpload() throws(URLClientError) {
            guard resumesUpload else { return }
            throw .invalidRequest(reason: "only an upload of data or of a whole file can be resumed")
        }

        /// Combines the client's monitor with the request's own, in this order.
        func monitor(after first: (@Sendable (Event) -> Void)?) -> (@Sendable (Event) -> Void)? {
            guard let first, let monitor else { return first ?? monitor }
            return { event in
                first(event)
                monitor(event)
            }
        }
    }
}
