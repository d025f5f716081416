#if os(Linux)
import CLibcurl
import Foundation

/// A multi handle of libcurl: a set of connections, and the requests that run on them. Confined to the engine's thread.
final class LibcurlMulti {
    /// The maximum number of idle connections.
    private static let mostIdle = 256

    /// True for libcurl 8.5.0, which waits for bytes on a connection, and takes them, also while reading is paused, or when the
    /// response is complete.
    private static let readsAlways = LibcurlEngine.versionNumber == 0x08_05_00

    /// The number that its descriptors have in the thread's poll set.
    let number: UInt32

    private let multi: libcurl_multi
    private let poll: poll_set

    /// The requests that run on it, among others.
    weak var connections: LibcurlConnections?

    /// True if it is gone with its last request.
    var isRetired = false

    /// The time at which libcurl's next timer is due, if any.
    @exclusivity(unchecked) private(set) var timer: ContinuousClock.Instant?

    /// - Returns: nil if no memory is available.
    init?(number: UInt32, poll: poll_set) {
        guard let multi = libcurl_multi_create() else { return nil }
        self.multi = multi
        self.number = number
        self.poll = poll
        let context = Unmanaged.passUnretained(self).toOpaque()
        libcurl_multi_set_sockets(
            multi,
            { easy, socket, what, context, _ in
                context.map { Unmanaged<LibcurlMulti>.fromOpaque($0).takeUnretainedValue() }?
                    .watch(socket, what, for: easy.flatMap(LibcurlMulti.transfer))
                return 0
            },
            context
        )
        libcurl_multi_set_timer(
            multi,
            { _, milliseconds, context in
                context.map { Unmanaged<LibcurlMulti>.fromOpaque($0).takeUnretainedValue() }?.setTimer(milliseconds)
                return 0
            },
            context
        )
    }

    /// Sets the limits of connections.
    ///
    /// - Parameter isShared: True if requests share connections.
    func limitConnections(perHost limit: Int, isShared: Bool) {
        // The queue keeps this limit, except where a server allows fewer streams on a connection of HTTP/2 than there are
        // requests: those that wait for a stream then open no connections beyond it. Without HTTP/2 it would only be in
        // the way: libcurl counts all origins behind one proxy as one host.
        if isShared { libcurl_multi_set_long(multi, Int32(CURLMOPT_MAX_HOST_CONNECTIONS), limit) }
        // By default, this depends on the number of running transfers, so that the last of many would close the
        // connections of the others.
        libcurl_multi_set_long(multi, Int32(CURLMOPT_MAXCONNECTS), max(Self.mostIdle, limit))
        // Leaves the limit to the server.
        libcurl_multi_set_long(multi, Int32(CURLMOPT_MAX_CONCURRENT_STREAMS), 1_000)
    }

    /// Closes all connections. Nothing may be called afterwards.
    func destroy() {
        libcurl_multi_destroy(multi)
    }

    func add(_ transfer: LibcurlTransfer) -> Bool {
        guard libcurl_multi_add(multi, transfer.handle.easy) == 0 else { return false }
        transfer.isAdded = true
        return true
    }

    /// Removes a request, if it isn't removed already while a name is looked up for it.
    func remove(_ transfer: LibcurlTransfer) {
        // libcurl forgets it.
        let port = Int32(transfer.handle.localPort)
        if transfer.isAdded {
            libcurl_multi_remove(multi, transfer.handle.easy)
            transfer.isAdded = false
        }
        transfer.handle.release()
        if case .paused(let socket) = transfer.socket { poll_set_end_pause(poll, socket, port) }
    }

    /// Closes the connection on which a request is about to be sent, if something has come on it since the last one.
    func look(at handle: LibcurlHandle, from port: Int32, to host: UnsafePointer<CChar>?, _ remotePort: Int32) -> Bool {
        poll_set_look(poll, port, host, remotePort, libcurl_easy_has_decrypted(handle.easy))
    }

    /// Returns the socket of a connection, or -1.
    func socket(of connection: LibcurlConnections.Dead) -> Int32 {
        poll_set_find(poll, Int32(connection.localPort), connection.host, Int32(connection.port))
    }

    /// Pauses the connection of a request, and returns its socket, if that is known.
    func pause(_ handle: LibcurlHandle) -> Int32? {
        let socket = poll_set_find(poll, Int32(handle.localPort), handle.remoteHost, Int32(handle.remotePort))
        guard socket >= 0 else { return nil }
        poll_set_pause(poll, socket)
        return socket
    }

    /// Closes idle connections to the address of one that has died, or with nil, to any.
    func closeIdle(to dead: LibcurlConnections.Dead?, silentFor silence: Duration) {
        poll_set_close_silent(poll, number, dead?.host, Int32(dead?.port ?? 0), Int64(silence / .milliseconds(1)))
    }

    /// Lets libcurl act on a descriptor that is ready.
    func act(_ socket: Int32, _ mask: Int32) {
        libcurl_multi_act(multi, socket, mask)
    }

    /// Runs libcurl's timer once if it is due. A fast transfer sets a timer that is due at once, again and again;
    /// commands that pause the transfer must get a chance in between.
    func runTimer() {
        guard let due = timer, due <= ContinuousClock.now else { return }
        timer = nil
        libcurl_multi_act(multi, Int32(CURL_SOCKET_TIMEOUT), 0)
    }

    /// Returns the next transfer that libcurl has ended, and its code.
    func nextDone() -> (transfer: LibcurlTransfer, code: Int32)? {
        var done = libcurl_done()
        while libcurl_multi_next_done(multi, &done) {
            if let transfer = Self.transfer(on: done.handle) { return (transfer, done.code) }
        }
        return nil
    }

    private static func transfer(on easy: libcurl_easy) -> LibcurlTransfer? {
        var context: UnsafeMutableRawPointer?
        libcurl_easy_get(easy, Int32(CURLINFO_PRIVATE), &context)
        return LibcurlHandle.transfer(of: context)
    }

    /// Watches the socket of a request's connection once more, after what is to be read from it has changed, where libcurl
    /// doesn't tell.
    func reconsider(_ transfer: LibcurlTransfer) {
        guard Self.readsAlways, let wanted = transfer.wanted, wanted.isMuted != transfer.isMuted else { return }
        watch(wanted.socket, wanted.what, for: transfer)
    }

    private func watch(_ socket: Int32, _ what: Int32, for transfer: LibcurlTransfer?) {
        var what = what
        if Self.readsAlways, let transfer {
            let isMuted = transfer.isMuted
            transfer.wanted = what == CURL_POLL_REMOVE ? nil : (socket, what, isMuted)
            if isMuted { what = Int32(Int(what) & CURL_POLL_OUT == 0 ? CURL_POLL_REMOVE : CURL_POLL_OUT) }
        }
        if what != CURL_POLL_REMOVE {
            poll_set_watch(poll, socket, number, what)
            transfer?.isWatched(at: socket, isRead: Int(what) & CURL_POLL_IN != 0)
            return
        }
        // Since 8.13, libcurl closes connections on behalf of a handle of its own.
        let transfer = transfer ?? connections?.transfer(at: .watched(socket))
        transfer?.isUnwatched(at: socket)
        // A connection that may serve several requests is none that this one leaves idle.
        guard let transfer, transfer.hasOwnConnection else { return poll_set_remove(poll, socket) }
        if case .paused = transfer.socket { return poll_set_pause(poll, socket) }
        poll_set_watch_idle(poll, socket)
        if case .answered = transfer.socket { poll_set_tell(poll, socket) }
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : ContinuousClock.now + .milliseconds(milliseconds)
    }
}
#endif
