#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation

// MARK: The connection

extension LibcurlTransfer {
    /// The most bytes to keep of what libcurl has not read.
    private static let mostUnread = 64 << 10

    /// Lets the task see its socket, unless it may be that of an HTTP/2 connection.
    func shareSocket() {
        let isAlone = task.kind == .own || !hasConnected || response.isInVersion1
        if isAlone, case .watched(let socket) = socket { task.use(socket: socket) } else { task.use(socket: -1) }
    }

    /// Returns true if another transfer has the same connection. Not known of Unix domain sockets, which have no ports.
    func hasConnection(of other: LibcurlTransfer) -> Bool {
        task.origin == other.task.origin && handle.localPort != 0 && handle.localPort == other.handle.localPort
    }

    /// Notes that libcurl waits for the socket of the request's connection.
    ///
    /// - Parameter isRead: False if it waits only for room to send.
    func isWatched(at socket: Int32, isRead: Bool) {
        readEnd = nil
        if !isRead, self.socket == .watched(socket) { noteUnread(socket) }
        self.socket = .watched(socket)
        task.noteStart()
        shareSocket()
    }

    /// Notes that libcurl no longer waits for the socket of the request's connection: mostly because the response is complete.
    /// While reading is paused, libcurl may have all of the response, and not wait for the socket again.
    func isUnwatched(at socket: Int32) {
        keepUnread(of: socket)
        noteUnread(socket)
        self.socket = .unknown
        shareSocket()
        guard hasOwnConnection else { return }
        if case .answered = readEnd {
            self.socket = .answered(socket)
        } else if isReadingPaused {
            self.socket = .paused(socket)
        }
    }

    /// Notes that libcurl doesn't want to read while it has a body to send, for which it waits: it does so also when the
    /// connection was closed.
    private func noteUnread(_ socket: Int32) {
        guard source is StreamedUploadSource, hasBegun, stop == nil, !isReadingPaused else { return }
        let peer = libcurl_easy_peer(handle.easy, socket, task.isSecure)
        if hasAnswer {
            // After a 417, libcurl sends the request again.
            guard hasOwnConnection, response.head?.status != 417 else { return }
            readEnd = peer == PEER_OPEN ? .answered : peer == PEER_CLOSED ? .closed : nil
        } else if peer == PEER_CLOSED, task.version == CURL_HTTP_VERSION_1_1, !handle.hasOldConnection {
            // On a connection that was used before, libcurl may be about to send the request again.
            readEnd = .closed
        }
        if readEnd != nil { wantFlush() }
    }

    /// True if the response shows that the request has a connection to itself.
    var hasOwnConnection: Bool { hasConnected && response.isInVersion1 }

    /// True if nothing is to be read from the request's connection, for now or any more.
    var isMuted: Bool { hasOwnConnection && (isReadingPaused || source != nil && response.hasBody == true) }

    /// Notes that reading is about to be paused. If libcurl has not waited for the socket, since the first bytes were there at
    /// once, the connection is still taken for an idle one.
    func willPauseReading() {
        if socket == .unknown, !isReadingPaused, hasOwnConnection { _ = pauseUnwatched() }
    }

    /// Lets nobody watch the request's connection, which libcurl does not. Returns false if its socket isn't known.
    func pauseUnwatched() -> Bool {
        guard let paused = multi.pause(handle) else { return false }
        socket = .paused(paused)
        return true
    }

    /// Looks at what has come on a socket that libcurl is about to leave, perhaps because of an error. It reads before it
    /// sends, but not again when it could not send. A server that refuses a body closes the connection under it.
    private func keepUnread(of socket: Int32) {
        guard hasSent, !hasAnswer, pauses == 0, stop == nil else { return }
        unread = [UInt8](unsafeUninitializedCapacity: Self.mostUnread) { buffer, count in
            count = max(0, recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
        }
    }

    /// Receives what libcurl has left unread, if it is a response. What is encrypted can't be read without libcurl.
    func receiveUnread() {
        guard unread.starts(with: "HTTP/1.".utf8) else { return }
        unread.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !hasAnswer, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                guard receive(line: UnsafeRawBufferPointer(rebasing: rest[...end])) > 0 else { return }
                rest = rest[(end + 1)...]
            }
            // In chunks, or of unknown length, it may not be whole.
            guard let length = response.head?.value(of: "Content-Length").flatMap(BodyLength.parse) else { return }
            rest = rest.prefix(Int(clamping: length))
            if !rest.isEmpty { _ = receive(body: UnsafeRawBufferPointer(rebasing: rest)) }
        }
    }
}
#endif
