public import Foundation
internal import Synchronization

extension HTTPBody {
    /// Creates a streamed body that can be sent only once.
    ///
    /// A request with such a body is not tried again: not by ``Retry``, and not by ``BearerAuthentication``. For a body
    /// that can be sent again, use ``stream(length:contentType:_:)``.
    ///
    /// Over ``URLSessionLoader``, all of the bytes are first gathered in a temporary file, which only its owner can
    /// read, and then sent with their length.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, in pieces of any size. Kept until they have been sent.
    ///   - length: The number of bytes, if it is known. A request whose body turns out to have another length fails.
    ///   - contentType: The value of `Content-Type`.
    public static func stream<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        length: Int64? = nil,
        contentType: String? = "application/octet-stream"
    ) -> HTTPBody where Bytes.Element == Data {
        let isSent = OnceFlag()
        let source = Source(isOneShot: true, length: length) {
            isSent.set() ? HTTPBodyStream(bytes) : HTTPBodyStream(AsyncThrowingStream { throw AlreadySent() })
        }
        return HTTPBody([], contentType: contentType, source: source)
    }

    /// Creates a streamed body that can be sent as often as needed.
    ///
    /// See ``stream(_:length:contentType:)``.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if it is known.
    ///   - contentType: The value of `Content-Type`.
    ///   - make: Returns a sequence of all of the bytes, from the first. Called for each attempt.
    public static func stream<Bytes: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () -> Bytes
    ) -> HTTPBody where Bytes.Element == Data {
        let source = Source(isOneShot: false, length: length) { HTTPBodyStream(make()) }
        return HTTPBody([], contentType: contentType, source: source)
    }

    /// Returns the bytes of a body that was made from an asynchronous sequence, for a custom terminal loader; otherwise
    /// `nil`.
    ///
    /// The stream of a body that can be sent only once throws ``AlreadySent`` the second time.
    public func makeByteStream() -> HTTPBodyStream? { source?.open() }

    /// True if the bytes come from an asynchronous sequence.
    var isStreamed: Bool { source != nil }

    /// True if the body can be sent only once.
    var isOneShot: Bool { source?.isOneShot ?? false }

    /// The error of a body that can be sent only once and has already been sent.
    public struct AlreadySent: Error, CustomStringConvertible {
        /// One line for a log.
        public var description: String {
            "the body can be sent once, and was; give HTTPBody.stream a closure that makes the bytes anew"
        }
    }

    /// The source of a streamed body. Equal only to itself.
    final class Source: Sendable, Hashable {
        let isOneShot: Bool
        let length: Int64?
        let open: @Sendable () -> HTTPBodyStream

        init(isOneShot: Bool, length: Int64?, _ open: @escaping @Sendable () -> HTTPBodyStream) {
            self.isOneShot = isOneShot
            self.length = length
            self.open = open
        }

        static func == (one: Source, other: Source) -> Bool { one === other }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private final class OnceFlag: Sendable {
        private let isSet = Atomic(false)

        /// Sets the flag and returns true the first time.
        func set() -> Bool { !isSet.exchange(true, ordering: .relaxed) }
    }
}
