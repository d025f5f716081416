#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking

/// A request on its handle, and the response received for it. Confined to the engine's thread, as its connections are:
/// what each line of a head touches there needs no check of exclusive access.
///
/// It handles libcurl's callbacks. Events for the exchange run the user's code, which may call the engine at any time:
/// such calls wait as commands, so that libcurl is never re-entered.
final class LibcurlTransfer {
    /// The number of encoded bytes to decode at a time, before the reader is asked again: deflate makes at most about
    /// 1,000 of one.
    private static let encodedPieceSize = 512

    /// The most bytes to read of a redirect's body.
    private static let largestRedirect = 64 << 10

    /// The shortest time without a byte that is none of the usual pauses.
    private static let shortestStall = Duration.seconds(1)

    /// The most bytes to keep of what libcurl has not read.
    private static let mostUnread = 64 << 10

    /// The reason why libcurl was told to stop.
    private enum Stop {
        case failed(any Error)

        /// The response is complete as far as it matters.
        case complete
        case needsBody
    }

    let task: LibcurlTask
    let handle: LibcurlHandle
    let multi: LibcurlMulti
    private unowned let connections: LibcurlConnections
    private let source: (any UploadSource)?

    @exclusivity(unchecked) private var parser: ResponseHeadParser
    private var head: ResponseHead?
    private var isRedirect = false

    /// The value of `Content-Encoding`, until the first byte of the body needs a decoder: a response to HEAD, and one
    /// with the status 204 or 304, may have any coding.
    private var codings: String?
    private var decoder: ContentDecoder?

    /// The number of bytes at the beginning of libcurl's next chunk that are decoded already. It was refused after them.
    private var decodedCount = 0

    /// The head, and the bytes of the body, that were received but not delivered yet.
    @exclusivity(unchecked) private var waitingHead: ResponseHead?
    @exclusivity(unchecked) private var waiting = PieceGatherer()
    private var redirectCount = 0

    /// The number of bytes of the body that have come, still encoded.
    @exclusivity(unchecked) private var bodyCount: Int64 = 0

    /// The request's stream on its connection of HTTP/2, and true if the server has said that it won't process it.
    private var stream: Int?
    private var isRefused = false

    /// The bytes that had come when libcurl gave up the connection, because it could send no more.
    private var unread: [UInt8] = []

    /// The last TLS alert of the server.
    private var alert: Int?

    /// The number of bytes of the request's body that libcurl took and that were not reported yet.
    private var sentCount: Int64 = 0
    private var hasSent = false

    /// True once libcurl has begun to send the request.
    private var hasBegun = false

    /// The reason why libcurl reads no more while it has a body to send.
    private enum ReadEnd {
        /// The response is complete.
        case answered

        /// The server has closed the connection.
        case closed
    }

    /// Set when libcurl stops to wait for bytes. Of an error, it is about to tell.
    private var readEnd: ReadEnd?

    /// True once the request has a connection. Older versions of libcurl don't tell before the response.
    private(set) var hasConnected = false

    /// The socket that libcurl watches for the request, or -1: it watches none while reading is paused.
    private var socket: Int32 = -1

    /// True once libcurl has watched a socket for the request.
    private var wasWatched = false

    /// The socket that is not watched because reading is paused, or -1.
    private(set) var pausedSocket: Int32 = -1

    /// The socket on which the response has come while the request's body is still to be sent, or -1.
    private(set) var answeredSocket: Int32 = -1

    /// True while the multi handle has the request.
    var isAdded = false

    /// The names that libcurl may ask for, from the next one on; nil before it asks for the first.
    private var hops: ArraySlice<LibcurlHop>?

    /// The name at which libcurl was stopped.
    private var hop: LibcurlHop?

    /// The times that it took to find the addresses, and to connect to one of several.
    var lookUpTime = Duration.zero
    var raceTime = Duration.zero

    /// The time when something was last received for the request, or else when it was sent; nil before.
    @exclusivity(unchecked) private var lastReceived: ContinuousClock.Instant?
    private var hasReceived = false

    private var stop: Stop?

    /// True while the reader wants no more bytes. ``isBehind`` is true while the exchange wants none.
    private var isPaused = false
    private var isBehind = false

    /// The paused directions, in libcurl's bits.
    private var pauses: Int32 = 0
    private var isReadingPaused: Bool { pauses & Int32(CURLPAUSE_RECV) != 0 }

    /// True if there are events to deliver once libcurl has returned.
    private(set) var mustFlush = false

    /// True if bytes have arrived since the last event that tells of some.
    @exclusivity(unchecked) private var hasActivity = false

    private var options: LibcurlOptions { connections.options }

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
        parser = ResponseHeadParser(of: task.request.url)
        handle.prepare(for: self, body: source)
    }

    // MARK: The response

    /// Handles a line of a head or of a trailer.
    ///
    /// - Returns: the number of bytes taken; fewer than given end the request.
    func receive(line: UnsafeRawBufferPointer) -> Int {
        guard stop == nil, !task.isCancelled else { return 0 }
        defer { if task.kind == .shared { shareSocket() } }
        do throws(ResponseHeadParser.Flaw) {
            guard let head = try parser.append(line) else {
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

    /// Lets the task see its socket, unless it may be that of an HTTP/2 connection.
    private func shareSocket() {
        let isAlone = task.kind == .own || !hasConnected || parser.isInVersion1
        task.use(socket: isAlone ? socket : -1)
    }

    /// True once there is a response.
    var hasAnswer: Bool { head != nil }

    private func begin(_ head: ResponseHead) throws(ResponseHeadParser.Flaw) {
        if options.httpVersion == .http2, let version = head.version, version != "HTTP/2" {
            throw .init(description: "The server answered with \(version), but HTTP/2 is required")
        }
        hasConnected = true
        // Connected at once, and answered as fast: libcurl has not waited for the socket, and the set doesn't know it.
        if !wasWatched, !handle.hasOldConnection { handle.forbidReuse() }
        // The server may wait for a body that libcurl isn't going to send, and would take the next request for it.
        if head.status == 417, parser.isInVersion1, source != nil { handle.forbidReuse() }
        if task.kind == .shared, self.head == nil {
            connections.answered(task, isMultiplexed: head.version == "HTTP/2")
        }
        self.head = head
        isRedirect = RedirectRules.target(head.status.code, head.value(of: "Location"), from: task.request.url) != nil
        if isRedirect { return }
        codings = head.value(of: "Content-Encoding")
        waitingHead = head
        wantFlush()
    }

    /// Handles bytes of the body, without their framing but still encoded.
    ///
    /// - Returns: the number of bytes taken, or `CURL_WRITEFUNC_PAUSE` to get the same ones again later.
    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard stop == nil, !task.isCancelled else { return 0 }
        noteActivity()
        let count = take(body: bytes)
        if count == bytes.count { bodyCount += Int64(count) }
        return count
    }

    private func take(body bytes: UnsafeRawBufferPointer) -> Int {
        if isRedirect {
            redirectCount += bytes.count
            guard redirectCount <= Self.largestRedirect else {
                stop = .complete
                return 0
            }
            return bytes.count
        }
        do throws(ContentDecoder.Flaw) {
            if let codings = codings.take() {
                decoder = try ContentDecoder(codings, accepted: task.request.value(of: "Accept-Encoding"))
            }
        } catch {
            return fail(bad(error.description))
        }
        if decoder != nil { return decode(bytes) }
        guard waiting.count + bytes.count <= PieceGatherer.size || canGoOn() else { return refuse() }
        waiting.append(bytes)
        return bytes.count
    }

    private func decode(_ bytes: UnsafeRawBufferPointer) -> Int {
        // True once there has been a whole piece.
        var isEnough = waiting.count >= PieceGatherer.size
        do {
            while decodedCount < bytes.count {
                guard !isEnough || canGoOn() else { return refuse() }
                isEnough = false
                let end = min(decodedCount + Self.encodedPieceSize, bytes.count)
                let piece = UnsafeRawBufferPointer(rebasing: bytes[decodedCount..<end])
                decodedCount = end
                try decoder?.decode(piece) { output in
                    guard !task.isCancelled else { throw CancellationError() }
                    if waiting.count + output.count > PieceGatherer.size {
                        // Perhaps more than the reader wants, but there is no way back.
                        flushResponse()
                        isEnough = true
                    }
                    waiting.append(output)
                }
            }
            decodedCount = 0
            return bytes.count
        } catch let flaw as ContentDecoder.Flaw {
            return fail(bad(flaw.description))
        } catch {
            return 0
        }
    }

    /// Delivers what was received, and returns false if it is enough for now.
    private func canGoOn() -> Bool {
        flushResponse()
        pauseIfNeeded()
        return !isPaused && !isBehind
    }

    private func refuse() -> Int {
        willPauseReading()
        pauses |= Int32(CURLPAUSE_RECV)
        return CURL_WRITEFUNC_PAUSE
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
        if let stream, stream > last, head == nil { isRefused = true }
    }

    /// Returns true if another transfer has the same connection. Not known of Unix domain sockets, which have no ports.
    func hasConnection(of other: LibcurlTransfer) -> Bool {
        task.origin == other.task.origin && handle.localPort != 0 && handle.localPort == other.handle.localPort
    }

    // MARK: The request's body

    /// Fills libcurl's buffer with bytes of the request's body.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard stop == nil, !task.isCancelled, let source else { return CURL_READFUNC_ABORT }
        switch source.read(into: buffer) {
        case .bytes(let count):
            sentCount += Int64(count)
            if count > 0 {
                hasSent = true
                wantFlush()
            }
            return count
        case .notYet:
            pauses |= Int32(CURLPAUSE_SEND)
            return CURL_READFUNC_PAUSE
        case .failed(let error):
            stop = .failed(error)
            return CURL_READFUNC_ABORT
        }
    }

    /// The lines to send behind the request's body.
    func trailers() -> LibcurlHeaders {
        let lines = LibcurlHeaders()
        for field in source?.trailers ?? [:] { lines.add("\(field.name): \(field.value)") }
        return lines
    }

    /// Returns whether libcurl may send the request. It begins again by itself if a kept-alive connection is lost before
    /// the server answers.
    ///
    /// - Parameters:
    ///   - port: The local port of the connection, or 0 if it has none.
    ///   - host: The address of the other end.
    func mayBeSent(from port: Int32, to host: UnsafePointer<CChar>?, _ remotePort: Int32) -> Bool {
        if task.kind == .shared, !hasConnected { connections.connected(task) }
        hasConnected = true
        task.noteStart()
        shareSocket()
        if hasBegun, head == nil, !isRepeatable {
            refuseToRepeat()
            return false
        }
        if let head {
            if head.status == 417 {
                handle.dropExpectation(of: task.request)
                guard rewind() else { return false }
                // What the server has refused is not processed, so nothing has been sent until it is sent again.
                (hasBegun, hasSent) = (false, false)
            }
            forgetResponse()
        }
        // Repeated, it may have another connection, which libcurl doesn't watch yet.
        if hasBegun { (wasWatched, unread) = (false, []) }
        // On a connection that was closed, nothing is sent, and libcurl begins again with another one.
        let isClosed = multi.look(at: handle, from: port, to: host, remotePort)
        if !isClosed { hasBegun = true }
        lastReceived = .now
        (hops, hop) = (nil, nil)
        return true
    }

    // MARK: The connection

    /// Notes that libcurl waits for the socket of the request's connection.
    ///
    /// - Parameter isRead: False if it waits only for room to send.
    func isWatched(at socket: Int32, isRead: Bool) {
        readEnd = nil
        if !isRead, socket == self.socket { noteUnread(socket) }
        (self.socket, wasWatched, pausedSocket, answeredSocket) = (socket, true, -1, -1)
        task.noteStart()
        shareSocket()
    }

    /// The state of a connection for whose socket libcurl no longer waits.
    enum Unwatched {
        /// Mostly because the response is complete.
        case idle

        /// The response is complete, and the request's body isn't sent.
        case answered

        /// libcurl may have all of the response, and not wait for the socket again.
        case paused

        /// Nothing is known of it, or it may serve several requests.
        case unknown
    }

    /// Notes that libcurl no longer waits for the socket of the request's connection.
    func isUnwatched(at socket: Int32) -> Unwatched {
        keepUnread(of: socket)
        noteUnread(socket)
        self.socket = -1
        shareSocket()
        guard hasOwnConnection else { return .unknown }
        if case .answered = readEnd {
            answeredSocket = socket
            return .answered
        }
        guard isReadingPaused else { return .idle }
        pausedSocket = socket
        return .paused
    }

    /// Notes that libcurl doesn't want to read while it has a body to send, for which it waits: it does so also when the
    /// connection was closed.
    private func noteUnread(_ socket: Int32) {
        guard source is StreamedUploadSource, hasBegun, stop == nil, !isReadingPaused else { return }
        let peer = libcurl_easy_peer(handle.easy, socket, task.isSecure)
        if head != nil {
            // After a 417, libcurl sends the request again.
            guard hasOwnConnection, head?.status != 417 else { return }
            readEnd = peer == PEER_OPEN ? .answered : peer == PEER_CLOSED ? .closed : nil
        } else if peer == PEER_CLOSED, task.version == CURL_HTTP_VERSION_1_1, !handle.hasOldConnection {
            // On a connection that was used before, libcurl may be about to send the request again.
            readEnd = .closed
        }
        if readEnd != nil { wantFlush() }
    }

    /// True if the response shows that the request has a connection to itself.
    private var hasOwnConnection: Bool { hasConnected && parser.isInVersion1 }

    /// Notes that reading is about to be paused. If libcurl has not waited for the socket, since the first bytes were there at
    /// once, the connection is still taken for an idle one.
    private func willPauseReading() {
        guard socket < 0, !isReadingPaused, hasOwnConnection else { return }
        pausedSocket = multi.pause(handle)
    }

    /// Looks at what has come on a socket that libcurl is about to leave, perhaps because of an error. It reads before it
    /// sends, but not again when it could not send. A server that refuses a body closes the connection under it.
    private func keepUnread(of socket: Int32) {
        guard hasSent, head == nil, pauses == 0, stop == nil else { return }
        unread = [UInt8](unsafeUninitializedCapacity: Self.mostUnread) { buffer, count in
            count = max(0, recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
        }
    }

    /// Receives what libcurl has left unread, if it is a response. What is encrypted can't be read without libcurl.
    private func receiveUnread() {
        guard unread.starts(with: "HTTP/1.".utf8) else { return }
        unread.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while head == nil, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                guard receive(line: UnsafeRawBufferPointer(rebasing: rest[...end])) > 0 else { return }
                rest = rest[(end + 1)...]
            }
            // In chunks, or of unknown length, it may not be whole.
            guard let length = head?.value(of: "Content-Length").flatMap(BodyLength.parse) else { return }
            rest = rest.prefix(Int(clamping: length))
            if !rest.isEmpty { _ = receive(body: UnsafeRawBufferPointer(rebasing: rest)) }
        }
    }

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

    /// The connection on which the request, which is about to be cancelled, has waited in vain: since it was sent, or for a
    /// while since something came for it, nothing came on it, for other requests either.
    var deadConnection: LibcurlConnections.Dead? {
        // While the reader wants nothing, it is to blame.
        guard let lastReceived, pauses == 0 else { return nil }
        let wait = .now - lastReceived
        guard task.isLate && !hasReceived || wait >= Self.shortestStall, handle.localPort != 0 else { return nil }
        let connection = LibcurlConnections.Dead(
            origin: task.origin,
            localPort: handle.localPort,
            host: handle.remoteHost,
            port: handle.remotePort,
            silence: wait
        )
        let socket = multi.socket(of: connection)
        // Somebody may cancel for other reasons than a deadline. But then the system may know.
        guard socket >= 0, task.isLate || connection_is_unanswered(socket) else { return nil }
        // The system counts in ticks.
        let silence = Duration.milliseconds(connection_silence(socket)) + .milliseconds(50)
        return silence >= wait ? connection : nil
    }

    /// True for methods that may be sent twice, and after a refusal of the expectation: RFC 9110, sections 9.2.2 and 15.5.18.
    private var isRepeatable: Bool { HTTPMethod(rawValue: task.request.method).isIdempotent || head?.status == 417 }

    /// Goes back to the beginning of the body: a kept-alive connection was lost before the server answered.
    func rewind() -> Bool {
        guard hasSent else { return true }
        guard isRepeatable, source?.rewind() == true else {
            refuseToRepeat()
            return false
        }
        return true
    }

    /// Ends the request where libcurl would send it again. What the server has refused may be sent twice, but the policies
    /// decide about that.
    private func refuseToRepeat() {
        stop = isRefused ? .failed(refusal) : .needsBody
    }

    private var refusal: URLError {
        let description =
            "The server has not processed the request, and closed its stream or the connection to new ones; send it again"
        return URLError(
            .networkConnectionLost,
            failing: task.request.url,
            description: description,
            underlying: FailureCause.notProcessed
        )
    }

    /// Forgets a response to which libcurl has reacted by itself: it sends a request that met a 417 again, without its
    /// expectation.
    private func forgetResponse() {
        parser.reset()
        (head, waitingHead, codings, decoder) = (nil, nil, nil, nil)
        (isRedirect, redirectCount, bodyCount) = (false, 0, 0)
    }

    // MARK: Pausing

    /// Pauses or resumes reading from the connection.
    func reconsiderPause() {
        isPaused = task.isPaused
        setPause(Int32(CURLPAUSE_RECV), isPaused || isBehind)
    }

    /// Resumes reading, because the exchange has processed its backlog.
    func caughtUp() {
        isBehind = false
        setPause(Int32(CURLPAUSE_RECV), isPaused)
    }

    /// Resumes sending, because the body's source has bytes again.
    func proceed() {
        setPause(Int32(CURLPAUSE_SEND), false)
    }

    private func setPause(_ bit: Int32, _ isPaused: Bool) {
        let new = isPaused ? pauses | bit : pauses & ~bit
        guard new != pauses else { return }
        if isPaused, bit == Int32(CURLPAUSE_RECV) { willPauseReading() }
        pauses = new
        libcurl_easy_pause(handle.easy, new)
    }

    // MARK: Telling

    private func wantFlush() {
        guard !mustFlush else { return }
        mustFlush = true
        connections.mustFlush(self)
    }

    /// Delivers the events that are pending.
    func flush() {
        mustFlush = false
        if hasActivity || waitingHead != nil || !waiting.isEmpty {
            lastReceived = .now
            hasReceived = true
            task.engine.received(at: task.origin)
        }
        flushSent()
        flushResponse()
        if hasActivity { task.tell(.activity) }
        hasActivity = false
        switch readEnd.take() {
        case .answered: tellOfAnswer()
        case .closed: return endUnsent()
        case nil: break
        }
        pauseIfNeeded()
        // libcurl sends no more of a body after such a head, but while sending is paused it doesn't end.
        if let head, head.status.code >= 300 { setPause(Int32(CURLPAUSE_SEND), false) }
    }

    /// Tells that the response is complete while the request's body isn't.
    private func tellOfAnswer() {
        guard !isReadingPaused, waiting.isEmpty, let head, head.status.isSuccess,
            hasBody(of: head) ?? (head.value(of: "Transfer-Encoding") != nil),
            decoder == nil || (try? decoder?.finish()) != nil,
            let trailers = try? parser.trailers()
        else { return }
        task.tell(.answered(head.with(trailers: trailers)))
    }

    /// Ends the request, whose body can't be sent any more, with the response if that is whole. In chunks, libcurl doesn't
    /// tell whether it has seen the last one, or the end of the connection.
    func endUnsent() {
        guard let head else { return connections.end(self, Int32(CURLE_GOT_NOTHING)) }
        let isAnswered = answeredSocket >= 0
        let isWhole = isAnswered || hasBody(of: head) ?? (head.value(of: "Transfer-Encoding") == nil)
        connections.end(self, Int32(isWhole ? CURLE_OK : CURLE_PARTIAL_FILE))
    }

    /// Returns whether as much of the body has come as the head announces; nil if it doesn't.
    private func hasBody(of head: ResponseHead) -> Bool? {
        if task.request.method == "HEAD" || [204, 304].contains(head.status) { return true }
        return head.value(of: "Content-Length").flatMap(BodyLength.parse).map { $0 == bodyCount }
    }

    /// Pauses reading if the bytes just delivered are enough for now. Also called within a callback of libcurl, which
    /// otherwise reads for as long as bytes are available.
    private func pauseIfNeeded() {
        isPaused = task.isPaused
        isBehind = task.backlog.isTooLong
        if isPaused || isBehind { setPause(Int32(CURLPAUSE_RECV), true) }
    }

    private func flushSent() {
        guard sentCount > 0 else { return }
        let count = sentCount
        sentCount = 0
        task.tell(.sent(count, of: source?.length))
    }

    private func flushResponse() {
        let (head, bytes) = takeResponse()
        if head != nil || bytes != nil { task.tell(head, bytes) }
    }

    /// Takes what has to be delivered.
    private func takeResponse() -> (ResponseHead?, Data?) {
        let head = waitingHead.take()
        guard !waiting.isEmpty else {
            if head != nil { hasActivity = false }
            return (head, nil)
        }
        hasActivity = false
        let bytes = waiting.take()
        task.backlog.add(bytes.count)
        return (head, bytes)
    }

    /// Reports the end, after which the handle is free again.
    ///
    /// - Parameter failure: The reason for it, if libcurl doesn't know that.
    func end(_ code: Int32, _ failure: URLError? = nil) {
        if stop == nil, let failure { stop = .failed(failure) }
        // Without the pause that a flush of a running request may cause.
        flushSent()
        mustFlush = false
        if code == CURLE_SEND_ERROR, head == nil { receiveUnread() }
        if wasLost(code) { recoverStatus() }
        var error = error(isWhole(code) ? Int32(CURLE_OK) : code)
        if error == nil { error = addTrailers() }
        if task.exchange.isMeasured { task.tell(.measured(metrics)) }
        if error == nil, isRedirect, let head { task.tell(.redirect(head)) }
        if case .needsBody = stop {
            flushResponse()
            task.tell(.needsBody)
        }
        let (newHead, bytes) = takeResponse()
        task.end(head, error, after: newHead, bytes)
    }

    private var metrics: URLClient.Metrics {
        handle.metrics(protocolVersion: head?.version, lookUp: lookUpTime, race: raceTime)
    }

    /// Reports the end of a cancelled request.
    func cancel() {
        task.endCancelled(head)
    }

    /// Returns true if libcurl says that the stream of a response has ended without an error, as an error.
    ///
    /// That is a reset without an error: the server needs no more of the request's body. Before libcurl 8.1, there is
    /// no text; since 8.3, other codes have another one.
    private func wasStreamClosed(_ code: Int32) -> Bool {
        let text = handle.failureText
        if text.isEmpty { return code == CURLE_HTTP2_STREAM }
        return LibcurlEngine.versionNumber >= 0x08_03_00 && LibcurlTexts.isReset(text)
    }

    /// Returns true if all of the response has come, though libcurl reports an error of its stream, or that the request
    /// could not be sent to its end: RFC 9113, section 8.1, and RFC 9112, section 9.3.
    private func isWhole(_ code: Int32) -> Bool {
        guard code != CURLE_OK, let head, head.version == "HTTP/2" || code == CURLE_SEND_ERROR else { return false }
        return hasBody(of: head) ?? wasStreamClosed(code)
    }

    /// Returns true if libcurl has lost the response: see ``LibcurlOptions/losesEarlyResponses``.
    private func wasLost(_ code: Int32) -> Bool {
        stop == nil && head == nil && LibcurlOptions.losesEarlyResponses && code == CURLE_HTTP2_STREAM
            && wasStreamClosed(code)
    }

    /// Makes the end of a lost response: of an error, the status is what counts, and is known. Anything else is no
    /// response without its fields and its body.
    private func recoverStatus() {
        let status = handle.statusOverHTTP2
        if let status, status >= 400 {
            let head = ResponseHead(url: task.request.url, version: "HTTP/2", status: HTTPStatus(status))
            (self.head, waitingHead) = (head, head)
            return
        }
        let what = status.map { "a response with status \($0)" } ?? "a response"
        stop = .failed(
            bad("libcurl has lost \(what) that came before the request's end; use libcurl 8.1 or later, or HTTP/1.1")
        )
    }

    private func error(_ code: Int32) -> (any Error)? {
        switch stop {
        case .failed(let error): return error
        case .complete: return nil
        case .needsBody: return BodyStreams.exhausted(task.request.url)
        case nil: break
        }
        if task.isCancelled { return URLError(.cancelled, failing: task.request.url) }
        guard code == CURLE_OK || code == CURLE_PARTIAL_FILE && head == nil else {
            if isRefused, head == nil { return refusal }
            if head == nil, let alert, let refusal = LibcurlTexts.refusalCode(alert: alert) {
                let description = "The server requires a client's certificate, or refuses this one: TLS alert \(alert)"
                return URLError(refusal, failing: task.request.url, description: description)
            }
            let context = handle.failureContext
            return LibcurlFailure.error(code, context, socket: options.unixSocketPath, url: task.request.url)
        }
        // libcurl accepts an incomplete head as complete, or misses the body.
        guard parser.isComplete || head != nil else {
            let description = "The connection ended inside the head of the response"
            return URLError(.networkConnectionLost, failing: task.request.url, description: description)
        }
        do throws(ContentDecoder.Flaw) {
            try decoder?.finish()
        } catch {
            return bad(error.description)
        }
        return nil
    }

    /// Adds to the head what has come behind the body.
    ///
    /// - Returns: The reason why that can't be used.
    private func addTrailers() -> (any Error)? {
        do throws(ResponseHeadParser.Flaw) {
            head = head?.with(trailers: try parser.trailers())
            return nil
        } catch {
            return bad(error.description)
        }
    }

    private func bad(_ description: String) -> URLError {
        URLError(.badServerResponse, failing: task.request.url, description: description)
    }

    /// Stores the error that ends the request, and returns the count by which libcurl stops.
    private func fail(_ error: any Error) -> Int {
        stop = .failed(error)
        return 0
    }
}
#endif
