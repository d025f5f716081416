#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking

// MARK: The end

extension LibcurlTransfer {
    /// Reports the end, after which the handle is free again.
    ///
    /// - Parameter failure: The reason for it, if libcurl doesn't know that.
    func end(_ code: Int32, _ failure: URLError? = nil) {
        if stop == nil, let failure { stop = .failed(failure) }
        // Without the pause that a flush of a running request may cause.
        flushSent()
        if code == CURLE_SEND_ERROR, !hasAnswer { receiveUnread() }
        if wasLost(code) { recoverStatus() }
        let error = error(isWhole(code) ? Int32(CURLE_OK) : code)
        if task.exchange.isMeasured { task.tell(.measured(metrics)) }
        // Also if its body has broken off, which nobody wants; but not if that of the request has failed.
        let hasFailed = if case .failed = stop { true } else { false }
        if response.isRedirect, !task.isCancelled, !hasFailed, let head = response.head { task.tell(.redirect(head)) }
        if case .needsBody = stop {
            flushResponse()
            task.tell(.needsBody)
        }
        let (newHead, bytes) = takeResponse()
        mustFlush = false
        task.end(response.head, error, after: newHead, bytes)
    }

    private var metrics: URLClient.Metrics {
        handle.metrics(protocolVersion: response.head?.version, lookUp: lookUpTime, race: raceTime)
    }

    /// Ends the request, whose body can't be sent any more, with the response if that is whole. In chunks, libcurl doesn't
    /// tell whether it has seen the last one, or the end of the connection.
    func endUnsent() {
        guard hasAnswer else { return connections.end(self, Int32(CURLE_GOT_NOTHING)) }
        let isAnswered = if case .answered = socket { true } else { false }
        let isWhole = isAnswered || response.hasBody ?? !response.hasTransferCoding
        connections.end(self, Int32(isWhole ? CURLE_OK : CURLE_PARTIAL_FILE))
    }

    /// Reports the end of a cancelled request.
    func cancel() {
        task.endCancelled(response.head)
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
        guard code != CURLE_OK, let head = response.head, head.version == "HTTP/2" || code == CURLE_SEND_ERROR
        else { return false }
        return response.hasBody ?? wasStreamClosed(code)
    }

    /// Returns true if libcurl has lost the response: see ``LibcurlOptions/losesEarlyResponses``.
    private func wasLost(_ code: Int32) -> Bool {
        stop == nil && !hasAnswer && LibcurlOptions.losesEarlyResponses && code == CURLE_HTTP2_STREAM
            && wasStreamClosed(code)
    }

    /// Makes the end of a lost response: of an error, the status is what counts, and is known. Anything else is no
    /// response without its fields and its body.
    private func recoverStatus() {
        let status = handle.statusOverHTTP2
        if let status, status >= 400 {
            response.begin(ResponseHead(url: task.request.url, version: "HTTP/2", status: HTTPStatus(status)))
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
        guard code == CURLE_OK || code == CURLE_PARTIAL_FILE && !hasAnswer else {
            if isRefused, !hasAnswer { return refusal }
            if !hasAnswer, let alert, let refusal = LibcurlTexts.refusalCode(alert: alert) {
                let description = "The server requires a client's certificate, or refuses this one: TLS alert \(alert)"
                return URLError(refusal, failing: task.request.url, description: description)
            }
            var context = handle.failureContext
            // Newer versions of libcurl forget it with the connection.
            if handle.remoteHost.isEmpty {
                context.address = options.hops(to: task.request.url).first(where: \.isProxy)?.key ?? ""
            }
            return LibcurlFailure.error(code, context, socket: options.unixSocketPath, url: task.request.url)
        }
        // libcurl accepts an incomplete head as complete, or misses the body.
        guard response.hasHead else {
            let description = "The connection ended inside the head of the response"
            return URLError(.networkConnectionLost, failing: task.request.url, description: description)
        }
        do throws(ResponseFlaw) {
            try response.finish()
        } catch {
            return bad(error.description)
        }
        return nil
    }

    var refusal: URLError {
        let description =
            "The server has not processed the request, and closed its stream or the connection to new ones; send it again"
        return URLError(
            .networkConnectionLost,
            failing: task.request.url,
            description: description,
            underlying: FailureCause.notProcessed
        )
    }

    func bad(_ description: String) -> URLError {
        URLError(.badServerResponse, failing: task.request.url, description: description)
    }

    /// Stores the error that ends the request, and returns the count by which libcurl stops.
    func fail(_ error: any Error) -> Int {
        stop = .failed(error)
        return 0
    }
}
#endif
