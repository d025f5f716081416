#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation

// MARK: Sending

extension LibcurlTransfer {
    /// Fills libcurl's buffer with bytes of the request's body.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard stop == nil, !task.isCancelled, let source else { return CURL_READFUNC_ABORT }
        switch source.read(into: buffer) {
        case .bytes(let count):
            sentCount += Int64(count)
            // The end of a body in chunks is sent as one.
            if count > 0 || source.length == nil {
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
        if hasBegun, !hasAnswer, !isRepeatable {
            refuseToRepeat()
            return false
        }
        if let head = response.head {
            if head.status == 417 {
                handle.dropExpectation(of: task.request)
                guard rewind() else { return false }
                // What the server has refused is not processed, so nothing has been sent until it is sent again.
                (hasBegun, hasSent) = (false, false)
            }
            response.reset()
        }
        unread = []
        // On a connection that was closed, nothing is sent, and libcurl begins again with another one.
        let isClosed = multi.look(at: handle, from: port, to: host, remotePort)
        if !isClosed { hasBegun = true }
        lastReceived = .now
        (hops, hop) = (nil, nil)
        return true
    }

    /// True for methods that may be sent twice, and after a refusal of the expectation: RFC 9110, sections 9.2.2 and 15.5.18.
    /// Not on this handle, once libcurl may have got to the lines behind the body: see ``LibcurlHandle/isSpent``.
    private var isRepeatable: Bool {
        task.request.body.trailers == nil
            && (HTTPMethod(rawValue: task.request.method).isIdempotent || response.head?.status == 417)
    }

    /// Goes back to the beginning of the body: a kept-alive connection was lost before the server answered.
    func rewind() -> Bool {
        guard hasSent else { return true }
        guard isRepeatable, source?.rewind() == true else {
            refuseToRepeat()
            return false
        }
        sentCount = 0
        task.tell(.bodyBegan())
        return true
    }

    /// Ends the request where libcurl would send it again. What the server has refused may be sent twice, but the policies
    /// decide about that.
    private func refuseToRepeat() {
        stop = isRefused ? .failed(refusal) : .needsBody
    }
}
#endif
