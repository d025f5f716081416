#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking

/// A request on its handle. Confined to the engine's thread, as its connections are: what each line of a head touches there
/// needs no check of exclusive access.
///
/// It handles libcurl's callbacks. Events for the exchange run the user's code, which may call the engine at any time:
/// such calls wait as commands, so that libcurl is never re-entered.
final class LibcurlTransfer {
    /// The reason why libcurl was told to stop.
    enum Stop {
        case failed(any Error)

        /// The response is complete as far as it matters.
        case complete
        case needsBody
    }

    let task: LibcurlTask
    let handle: LibcurlHandle
    let multi: LibcurlMulti
    unowned let connections: LibcurlConnections
    let source: (any UploadSource)?

    @exclusivity(unchecked) var response: LibcurlResponse

    /// True if libcurl has written a part of a line, without its end.
    private var isWithinLine = false

    /// The request's stream on its connection of HTTP/2, and true if the server has said that it won't process it.
    var stream: Int?
    var isRefused = false

    /// The bytes that had come when libcurl gave up the connection, because it could send no more.
    var unread: [UInt8] = []

    /// The last TLS alert of the server.
    var alert: Int?

    /// The number of bytes of the request's body that libcurl took and that were not reported yet.
    var sentCount: Int64 = 0
    var hasSent = false

    /// True once libcurl has begun to send the request.
    var hasBegun = false

    /// The reason why libcurl reads no more while it has a body to send.
    enum ReadEnd {
        /// The response is complete.
        case answered

        /// The server has closed the connection.
        case closed
    }

    /// Set when libcurl stops to wait for bytes. Of an error, it is about to tell.
    var readEnd: ReadEnd?

    /// True once the request has a connection. Older versions of libcurl don't tell before the response.
    var hasConnected = false

    /// The state of the socket of the request's connection.
    enum Socket: Equatable {
        /// Nothing: libcurl has watched none yet, or has left it.
        case unknown

        /// libcurl watches it.
        case watched(Int32)

        /// It is not watched: because reading is paused, or because libcurl has not waited for it.
        case paused(Int32)

        /// The response has come on it while the request's body is still to be sent.
        case answered(Int32)
    }

    var socket = Socket.unknown

    /// The socket that libcurl wants to have watched, and for what, where that may be too much; and whether it is watched for
    /// less, since the request ``isMuted``.
    var wanted: (socket: Int32, what: Int32, isMuted: Bool)?

    /// True while the multi handle has the request.
    var isAdded = false

    /// The names that libcurl may ask for, from the next one on; nil before it asks for the first.
    var hops: ArraySlice<LibcurlHop>?

    /// The name at which libcurl was stopped.
    var hop: LibcurlHop?

    /// The times that it took to find the addresses, and to connect to one of several.
    var lookUpTime = Duration.zero
    var raceTime = Duration.zero

    /// The time when something was last received for the request, or else when it was sent; nil before.
    @exclusivity(unchecked) var lastReceived: ContinuousClock.Instant?
    var hasReceived = false

    var stop: Stop?

    /// The limit of the request's rate, if it has one, and the time until which nothing is read because of it.
    var pacer: RatePacer?
    var limitedUntil: ContinuousClock.Instant?

    /// The paused directions, in libcurl's bits.
    var pauses: Int32 = 0
    var isReadingPaused: Bool { pauses & Int32(CURLPAUSE_RECV) != 0 }

    /// True if there are events to deliver once libcurl has returned.
    var mustFlush = false

    /// True if bytes have arrived since the last event that tells of some.
    @exclusivity(unchecked) private var hasActivity = false

    var options: LibcurlOptions { connections.options }

    init(_ task: LibcurlTask, on handle: LibcurlHandle, of multi: LibcurlMulti, in connections: LibcurlConnections) {
        self.task = task
        self.handle = handle
        self.multi = multi
        self.connections = connections
        source = task.uploadSource()
        if !LibcurlEngine.looksBeforeSending {
            lastReceived = .now
            task.noteStart()
        }
        response = LibcurlResponse(of: task.request)
        pacer = task.exchange.settings.rateLimit.map { RatePacer(limit: $0) }
        handle.prepare(for: self, body: source)
    }

    // MARK: The response

    /// Handles a line of a head or of a trailer.
    ///
    /// - Returns: the number of bytes taken; fewer than given end the request.
    func receive(line: UnsafeRawBufferPointer) -> Int {
        guard stop == nil, !task.isCancelled else { return 0 }
        defer { if task.kind == .shared { shareSocket() } }
        do throws(ResponseFlaw) {
            guard let head = try response.append(line: line) else {
                noteActivity()
                return line.count
            }
            hasActivity = false
            guard head.status.isInterim else {
                try begin(head)
                return line.count
            }
            task.tell(head, nil)
            // The exchange takes only the first ones of a flood.
            noteActivity()
            return line.count
        } catch {
            return fail(bad(error.description))
        }
    }

    /// True once there is a response.
    var hasAnswer: Bool { response.head != nil }

    private func begin(_ head: ResponseHead) throws(ResponseFlaw) {
        if options.httpVersion == .http2, let version = head.version, version != "HTTP/2" {
            throw .init(description: "The server answered with \(version), but HTTP/2 is required")
        }
        hasConnected = true
        // Connected at once, and answered as fast: libcurl has not waited for the socket, and may not before the end, after
        // which the set takes it for idle like one whose reading was paused.
        if socket == .unknown, hasOwnConnection, !handle.hasOldConnection, !pauseUnwatched() { handle.forbidReuse() }
        // The server may wait for a body that libcurl isn't going to send, and would take the next request for it: it has
        // answered before the body, or to an expectation that libcurl then leaves out.
        if source != nil, response.isInVersion1,
            head.status == 417 || !hasSent && task.request.value(of: "Expect") != nil
        {
            handle.forbidReuse()
        }
        if task.kind == .shared, response.head == nil {
            connections.answered(task, isMultiplexed: head.version == "HTTP/2")
        }
        response.begin(head)
        if !response.isRedirect { wantFlush() }
    }

    /// Handles what libcurl writes: bytes of the body and, with ``LibcurlHandle/writesHeads``, each line of a head before
    /// libcurl and ``receive(line:)`` get it.
    func receive(written bytes: UnsafeRawBufferPointer) -> Int {
        guard LibcurlHandle.writesHeads, !response.hasHead else { return receive(body: bytes) }
        // A long line comes in parts.
        let beginsLine = !isWithinLine
        isWithinLine = bytes.last != UInt8(ascii: "\n")
        do throws(ResponseFlaw) {
            if beginsLine { try response.check(line: bytes) }
            return bytes.count
        } catch {
            return fail(bad(error.description))
        }
    }

    /// Handles bytes of the body, without their framing but still encoded.
    ///
    /// - Returns: the number of bytes taken, or `CURL_WRITEFUNC_PAUSE` to get the same ones again later.
    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard stop == nil, !task.isCancelled else { return 0 }
        noteActivity()
        do {
            while true {
                let step = try response.append(body: bytes, accepted: task.request.value(of: "Accept-Encoding")) {
                    guard !task.isCancelled else { throw CancellationError() }
                    deliver($0, $1)
                }
                switch step {
                case .taken:
                    if pacer != nil { pace(bytes.count) }
                    return bytes.count
                case .full:
                    flushResponse()
                    if task.hasEnough { return refuse() }
                case .unneeded:
                    stop = .complete
                    return 0
                }
            }
        } catch let flaw as ResponseFlaw {
            return fail(bad(flaw.description))
        } catch {
            return 0
        }
    }

    private func noteActivity() {
        hasActivity = true
        wantFlush()
    }

    /// Handles what libcurl says about the request.
    func note(_ text: UnsafeRawBufferPointer) {
        switch LibcurlReport(text) {
        case .stream(let stream): (self.stream, isRefused) = (stream, false)
        case .goneAway(let last): connections.goneAway(after: last, on: self)
        case .refused: isRefused = true
        case .alert(let number): alert = number
        case nil: break
        }
    }

    /// Notes that the server won't process streams above the last one on the connection.
    func goneAway(after last: Int) {
        if let stream, stream > last, !hasAnswer { isRefused = true }
    }

    // MARK: Names that libcurl may ask for

    /// Returns true if libcurl has to be stopped, before it looks up a name. It does so itself where it needs another name
    /// than those that it is expected to.
    func mustLookUp() -> Bool {
        guard stop == nil, !task.isCancelled else { return false }
        task.noteStart()
        hop = nextHop().flatMap { options.mustLookUp($0) ? $0 : nil }
        return hop != nil
    }

    func nextHop() -> LibcurlHop? {
        if hops == nil { hops = options.hops(to: task.request.url)[...] }
        return hops?.popFirst()
    }

    /// Returns the name at which libcurl was stopped, if that is why the request has ended.
    func takeHop() -> LibcurlHop? { task.isCancelled ? nil : hop.take() }

    // MARK: Telling

    func wantFlush() {
        guard !mustFlush else { return }
        mustFlush = true
        connections.mustFlush(self)
    }

    /// Delivers the events that are pending.
    func flush() {
        mustFlush = false
        if hasActivity || response.isWaiting {
            lastReceived = .now
            hasReceived = true
            // Those who wait for its connection wait as long as it does.
            task.engine.received(at: task.origin, limitedUntil ?? .now)
        }
        flushSent()
        flushResponse()
        if hasActivity { task.tell(.activity) }
        hasActivity = false
        multi.reconsider(self)
        switch readEnd.take() {
        case .answered: tellOfAnswer()
        case .closed: return endUnsent()
        case nil: break
        }
        // libcurl otherwise reads for as long as bytes are available.
        if task.hasEnough { setPause(Int32(CURLPAUSE_RECV), true) }
        // libcurl sends no more of a body after such a head, but while sending is paused it doesn't end.
        if let head = response.head, head.status.code >= 300 { setPause(Int32(CURLPAUSE_SEND), false) }
    }

    /// Tells that the response is complete while the request's body isn't.
    private func tellOfAnswer() {
        if !isReadingPaused, let answer = response.answer { task.tell(.answered(answer)) }
    }

    func flushSent() {
        guard sentCount > 0 else { return }
        let count = sentCount
        sentCount = 0
        task.tell(.sent(count, of: source?.length))
    }

    func flushResponse() {
        let (head, bytes) = takeResponse()
        if head != nil || bytes != nil { task.tell(head, bytes) }
    }

    /// Takes what has to be delivered.
    func takeResponse() -> (ResponseHead?, Data?) {
        let (head, bytes) = response.take()
        noteTaken(head, bytes)
        return (head, bytes)
    }

    private func deliver(_ head: ResponseHead?, _ bytes: Data?) {
        noteTaken(head, bytes)
        task.tell(head, bytes)
    }

    private func noteTaken(_ head: ResponseHead?, _ bytes: Data?) {
        if head != nil || bytes != nil { hasActivity = false }
        if let bytes { task.gives(bytes.count) }
    }
}
#endif
