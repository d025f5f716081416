#if os(Linux)
internal import DeferredCore
import Foundation

/// A response as it comes: from lines and chunks, as libcurl has them, to a head and decoded pieces of the body.
///
/// It knows nothing of the connection.
struct LibcurlResponse: ~Copyable {
    /// The number of encoded bytes to decode at a time, before the reader is asked again: deflate makes at most about
    /// 1,000 of one.
    private static let encodedPieceSize = 512

    /// The most bytes to read of a redirect's body.
    private static let largestRedirect = 64 << 10

    /// The way that a chunk of the body has gone.
    enum Step {
        case taken

        /// There is a whole piece to be taken before the chunk is given again.
        case full

        /// The rest of the body doesn't matter.
        case unneeded
    }

    private var parser: ResponseHeadParser

    /// True if the request is one for the head alone.
    private let isHeadOnly: Bool

    /// The final head.
    private(set) var head: ResponseHead?
    private(set) var isRedirect = false

    /// The value of `Content-Encoding`, until the first byte of the body needs a decoder: a response to HEAD, and one
    /// with the status 204 or 304, may have any coding.
    private var codings: String?
    private var decoder: ContentDecoder?

    /// The number of bytes at the beginning of the next chunk that are decoded already. It was refused after them.
    private var decodedCount = 0

    /// The number of bytes of the body that have come, still encoded.
    private var count: Int64 = 0

    /// The head, and the bytes of the body, that have come and were not taken yet.
    private var waitingHead: ResponseHead?
    private var waiting = PieceBuffer()

    init(of request: CheckedRequest) {
        parser = ResponseHeadParser(of: request.url)
        isHeadOnly = request.method == "HEAD"
    }

    /// True if the version is 1.0 or 1.1.
    var isInVersion1: Bool { parser.isInVersion1 }

    /// True if a head, or bytes of the body, can be taken.
    var isWaiting: Bool { waitingHead != nil || hasBytes }
    var hasBytes: Bool { !waiting.isEmpty }

    /// Takes what can be delivered.
    mutating func take() -> (head: ResponseHead?, bytes: Data?) {
        (waitingHead.take(), hasBytes ? waiting.take() : nil)
    }

    // MARK: The head

    /// Checks the beginning of a line of a head, before it is added. Mutating, since otherwise Swift copies the structure.
    mutating func check(line: UnsafeRawBufferPointer) throws(ResponseFlaw) { try parser.check(line) }

    /// Adds a line of a head or of a trailer.
    ///
    /// - Returns: the final head, or an interim one, with its last line.
    mutating func append(line: UnsafeRawBufferPointer) throws(ResponseFlaw) -> ResponseHead? {
        try parser.append(line)
    }

    /// Begins with the final head.
    mutating func begin(_ head: ResponseHead) {
        self.head = head
        isRedirect = RedirectRules.target(head.status.code, in: head.headers, from: head.url) != nil
        if isRedirect { return }
        codings = head.value(of: "Content-Encoding")
        waitingHead = head
    }

    /// Forgets the response, to which libcurl has reacted by itself.
    mutating func reset() {
        parser.reset()
        (head, waitingHead, codings, decoder) = (nil, nil, nil, nil)
        (isRedirect, count) = (false, 0)
    }

    // MARK: The body

    /// Adds a chunk of the body, without its framing but still encoded.
    ///
    /// - Parameters:
    ///   - accepted: The request's own `Accept-Encoding`.
    ///   - deliver: Gets what becomes more than a piece while it is decoded. May throw, to stop that.
    mutating func append(
        body chunk: UnsafeRawBufferPointer,
        accepted: @autoclosure () -> String?,
        deliver: (ResponseHead?, Data?) throws -> Void
    ) throws -> Step {
        if isRedirect {
            count += Int64(chunk.count)
            return count <= Self.largestRedirect ? .taken : .unneeded
        }
        if let codings = codings.take() { decoder = try ContentDecoder(codings, accepted: accepted()) }
        if let decoder {
            guard try decode(chunk, decoder, deliver) else { return .full }
        } else {
            guard !hasBytes || waiting.count + chunk.count <= PieceBuffer.size else { return .full }
            waiting.append(chunk)
        }
        count += Int64(chunk.count)
        return .taken
    }

    /// - Returns: False if there is a whole piece before the end of the chunk.
    private mutating func decode(
        _ chunk: UnsafeRawBufferPointer,
        _ decoder: ContentDecoder,
        _ deliver: (ResponseHead?, Data?) throws -> Void
    ) throws -> Bool {
        var isFull = waiting.count >= PieceBuffer.size
        while decodedCount < chunk.count {
            if isFull { return false }
            let end = min(decodedCount + Self.encodedPieceSize, chunk.count)
            let encoded = UnsafeRawBufferPointer(rebasing: chunk[decodedCount..<end])
            decodedCount = end
            try decoder.decode(encoded) { output in
                if waiting.count + output.count > PieceBuffer.size {
                    // Perhaps more than the reader wants, but there is no way back.
                    let (head, bytes) = take()
                    try deliver(head, bytes)
                    isFull = true
                }
                waiting.append(output)
            }
        }
        decodedCount = 0
        return true
    }

    // MARK: The end

    /// True once the final head is there, or at least its end.
    var hasHead: Bool { head != nil || parser.isComplete }

    /// True if as much of the body has come as the head announces; nil if it doesn't.
    var hasBody: Bool? {
        guard let head else { return nil }
        if isHeadOnly || [204, 304].contains(head.status) { return true }
        return head.value(of: "Content-Length").flatMap(BodyLength.parse).map { $0 == count }
    }

    /// True if the head says how its body is transferred, mostly in chunks.
    var hasTransferCoding: Bool { head?.value(of: "Transfer-Encoding") != nil }

    /// The head with what has come behind the body, if all of a response that succeeded is there and was taken.
    var answer: ResponseHead? {
        guard !hasBytes, let head, head.status.isSuccess, hasBody ?? hasTransferCoding else { return nil }
        return try? finished()
    }

    /// Checks that the body isn't cut off within a coding, and adds to the head what has come behind it.
    mutating func finish() throws(ResponseFlaw) {
        head = try finished()
    }

    private func finished() throws(ResponseFlaw) -> ResponseHead? {
        try decoder?.finish()
        return try head?.with(trailers: parser.trailers())
    }
}
#endif
