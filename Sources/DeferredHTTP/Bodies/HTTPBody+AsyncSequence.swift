public import Foundation
internal import Synchronization

extension HTTPBody {
    /// Bytes that come by and by, and can be sent once.
    ///
    /// A request with such a body is not tried again: not by ``Retry``, and not by ``BearerAuthentication``. To have
    /// that, use ``stream(length:contentType:_:)``.
    ///
    /// Over ``URLSessionLoader``, all of the bytes are gathered in a temporary file first, which only its owner can
    /// read, and then sent with their length.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, in pieces of any size. Kept until they were sent.
    ///   - length: How many bytes there are, if that is known. A request with another number fails.
    ///   - contentType: For the `Content-Type`.
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

    /// Bytes that come by and by, and can be sent as often as needed.
    ///
    /// See ``stream(_:length:contentType:)``.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are, if that is known.
    ///   - contentType: For the `Content-Type`.
    ///   - make: Gives all of the bytes, from the first. Called for each attempt.
    public static func stream<Bytes: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () -> Bytes
    ) -> HTTPBody where Bytes.Element == Data {
        let source = Source(isOneShot: false, length: length) { HTTPBodyStream(make()) }
        return HTTPBody([], contentType: contentType, source: source)
    }

    /// The bytes of a body that was made from an asynchronous sequence, for a terminal loader of one's own; otherwise
    /// `nil`.
    ///
    /// Those that can be sent once throw ``AlreadySent`` the second time.
    public func makeByteStream() -> HTTPBodyStream? { source?.open() }

    /// Whether the bytes come by and by.
    var isStreamed: Bool { source != nil }

    /// Whether the body can be sent once only.
    var isOneShot: Bool { source?.isOneShot ?? false }

    /// The body can be sent once, and was.
    public struct AlreadySent: Error, CustomStringConvertible {
        /// One line for a log.
        public var description: String {
            "the body can be sent once, and was; give HTTPBody.stream a closure that makes the bytes anew"
        }
    }

    /// The bytes of a body that come by and by. Equal to itself only.
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

        /// True the first time.
        func set() -> Bool { !isSet.exchange(true, ordering: .relaxed) }
    }
}
