#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking
import Synchronization

/// A task of an exchange. Its methods send commands to a thread of the engine, which does the work.
final class LibcurlTask: EngineTask {
    /// The task's number in the engine, which is never used again.
    let identifier: Int
    let request: CheckedRequest

    /// The server that the request is for, as a key: see ``key(of:)``.
    let origin: String

    let isSecure: Bool

    /// libcurl's number for the version of HTTP that the request may use.
    let version: Int

    /// True if a deadline has ended the task.
    var isLate: Bool { state.withLock { $0.isLate } }

    /// The engine, which stays until the task has ended.
    let engine: LibcurlEngine

    /// The exchange, which retains this task in turn, until ``EngineEvent/ended(_:error:)``. That event always comes.
    let exchange: Exchange

    /// The task's number there.
    private let number: Int

    private let chosenThread = Atomic(-1)

    private let wasCancelled = Atomic(false)
    private let hasEnded = Atomic(false)

    /// The socket of the request's connection, or -1 while there is none, or others' bytes may arrive there as well.
    private let socket = Atomic<Int32>(-1)

    private struct State {
        /// The time when the request got a connection, or began to make one.
        var start: ContinuousClock.Instant?

        /// The time until which the connection is not read because of the request's limit, or was the last time.
        var limitedUntil: ContinuousClock.Instant?

        /// The condition under which the response should not be read.
        var isPaused: (@Sendable () -> Bool)?
        var backlog = Backlog()
        var isLate = false
    }

    private let state = Lock(State())

    /// Asks the system. If libcurl closes the socket at that moment, another one may answer, once.
    ///
    /// A request that waits for a connection, or for a stream on one, is as silent as those that have them: where none of
    /// them gets anything, all end by their deadlines, and not one line after the other.
    ///
    /// While the connection isn't read because of a limit, the silence is not the server's.
    var silence: Duration? {
        let (start, limitedUntil) = state.withLock { ($0.start, $0.limitedUntil) }
        guard let start else { return engine.silence(at: origin) }
        let sinceStart = max(.zero, ContinuousClock.now - (limitedUntil ?? start))
        let socket = socket.load(ordering: .relaxed)
        let milliseconds = socket < 0 ? -1 : connection_silence(socket)
        return milliseconds < 0 ? sinceStart : min(sinceStart, .milliseconds(milliseconds))
    }

    /// True while the reader wants no more bytes, or the exchange has not processed those that it was given.
    var hasEnough: Bool {
        let (isPaused, isTooLong) = state.withLock { ($0.isPaused, $0.backlog.isTooLong()) }
        return isTooLong || isPaused?() == true
    }

    /// True if the results are no longer needed. Only a hint for the engine's thread: the command in its queue counts.
    var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }

    /// The index of the thread that the task runs on; negative until it is chosen.
    var thread: Int {
        get { chosenThread.load(ordering: .sequentiallyConsistent) }
        set { chosenThread.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// The loop of the task: the first one until its thread is chosen.
    var loop: LibcurlLoop { engine.loops[max(0, thread)] }

    var kind: ConnectionQueue.Kind {
        version == CURL_HTTP_VERSION_1_1 || !engine.options.mayReuseConnections(in: version) ? .own : .shared
    }

    init(_ request: CheckedRequest, of exchange: Exchange, as number: Int, in engine: LibcurlEngine) {
        identifier = engine.nextIdentifier()
        self.request = request
        origin = Self.key(of: request.url)
        isSecure = origin.hasPrefix("s/")
        self.exchange = exchange
        self.number = number
        self.engine = engine
        version = engine.options.version(
            of: request,
            isSecure: isSecure,
            wantsOwnConnection: exchange.wantsOwnConnection
        )
    }

    /// Returns the authority of a URL without credentials and without the scheme's own port, marked if it is secure by what
    /// is in no authority.
    static func key(of url: URL) -> String {
        var text = url.absoluteString
        return text.withUTF8 { text in
            let isSecure = text[4] == UInt8(ascii: "s")
            var authority = text.dropFirst(isSecure ? 8 : 7).prefix {
                $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
            }
            if let delimiter = authority.lastIndex(of: UInt8(ascii: "@")) {
                authority = authority[authority.index(after: delimiter)...]
            }
            let port = isSecure ? ":443" : ":80"
            if authority.suffix(port.utf8.count).elementsEqual(port.utf8) {
                authority = authority.dropLast(port.utf8.count)
            }
            let host = String(decoding: authority, as: UTF8.self).lowercased()
            return isSecure ? "s/" + host : host
        }
    }

    func resume() {
        engine.resume(self)
    }

    func cancel() {
        wasCancelled.store(true, ordering: .relaxed)
        engine.cancel(self)
    }

    func expire() {
        state.withLock { $0.isLate = true }
        cancel()
    }

    func afterReading(_ body: @escaping @Sendable () -> Void) {
        // Those for which a request waits may run on any thread.
        if state.withLock({ $0.start }) == nil { return engine.afterReading(body) }
        if loop.submit(.report(body)) != nil { body() }
    }

    func pause(while isPaused: @escaping @Sendable () -> Bool) {
        // The previous condition is released outside of the lock.
        let old = state.withLock { state in
            defer { state.isPaused = isPaused }
            return state.isPaused
        }
        withExtendedLifetime(old) {}
        // Either the command goes to the task's thread, or that thread, which is chosen later, sees the condition.
        loop.submit(.reconsiderPause(self))
    }

    func took(_ count: Int) {
        if state.withLock({ $0.backlog.remove(count) }) { loop.submit(.reconsiderPause(self)) }
    }

    /// Counts bytes that are about to be given to the exchange.
    func gives(_ count: Int) {
        state.withLock { $0.backlog.add(count) }
    }

    /// Reports that the body's source has bytes again.
    func proceed() {
        loop.submit(.proceed(self))
    }

    /// Notes that the request no longer waits for a connection.
    func noteStart() {
        state.withLock { if $0.start == nil { $0.start = .now } }
    }

    /// Notes that the connection isn't read before a time.
    func use(limitedUntil end: ContinuousClock.Instant) {
        state.withLock { $0.limitedUntil = end }
    }

    func use(socket: Int32) {
        self.socket.store(socket, ordering: .relaxed)
    }

    func tell(_ event: EngineEvent) {
        exchange.receive(event, of: number)
    }

    /// Reports a head and bytes of a response, if there are any.
    func tell(_ head: ResponseHead?, _ bytes: Data?) {
        exchange.receive(head, bytes, of: number)
    }

    /// Reports the end as cancelled.
    func endCancelled(_ head: ResponseHead? = nil) {
        end(head, URLError(.cancelled, failing: request.url))
    }

    /// Reports the end once, with what has come before it: a task that is cancelled before it is resumed has no transfer
    /// to do so.
    func end(_ last: ResponseHead?, _ error: (any Error)?, after head: ResponseHead? = nil, _ bytes: Data? = nil) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        exchange.receive(head, bytes, end: (last, error), of: number)
    }
}

/// Counts the bytes that an exchange was given and has not processed yet, because another thread is still busy with earlier
/// ones.
struct Backlog {
    private static let most = 256 << 10

    private var count = 0

    /// True while the engine waits for the end of a backlog that is too long.
    private var isAwaited = false

    /// Returns true if the backlog is too long. The engine then waits until ``remove(_:)`` tells otherwise.
    mutating func isTooLong() -> Bool {
        if count > Self.most { isAwaited = true }
        return isAwaited
    }

    mutating func add(_ bytes: Int) { count += bytes }

    /// Counts bytes that the exchange has processed, and returns true, once, if the engine waits and need not any more.
    mutating func remove(_ bytes: Int) -> Bool {
        count -= bytes
        guard isAwaited, count <= Self.most / 2 else { return false }
        isAwaited = false
        return true
    }
}
#endif
