#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation

/// Pausing: because the reader wants no more for now, because of a limit of the rate, or because the body has no bytes to send
/// yet.
extension LibcurlTransfer {
    /// Pauses reading, after which libcurl gives the same bytes again.
    func refuse() -> Int {
        willPauseReading()
        pauses |= Int32(CURLPAUSE_RECV)
        multi.reconsider(self)
        return CURL_WRITEFUNC_PAUSE
    }

    /// Pauses or resumes reading from the connection. Not within a callback of libcurl, which would be called in it.
    func reconsiderPause() {
        setPause(Int32(CURLPAUSE_RECV), task.hasEnough || limitedUntil != nil)
    }

    /// Pauses reading once the bytes so far have come faster than the request's limit.
    func pace(_ count: Int) {
        guard let end = pacer?.took(count, at: .now) else { return }
        if limitedUntil == nil { connections.willWait(self) }
        limitedUntil = end
        task.use(limitedUntil: end)
        setPause(Int32(CURLPAUSE_RECV), true)
    }

    /// Returns whether the limit allows the next bytes at a time.
    func mayRead(at time: ContinuousClock.Instant) -> Bool { limitedUntil.map { $0 <= time } ?? true }

    /// Resumes reading, because it is time for the next bytes.
    func waited() {
        limitedUntil = nil
        reconsiderPause()
    }

    /// Resumes sending, because the body's source has bytes again.
    func proceed() {
        setPause(Int32(CURLPAUSE_SEND), false)
    }

    func setPause(_ bit: Int32, _ isPaused: Bool) {
        let new = isPaused ? pauses | bit : pauses & ~bit
        guard new != pauses else { return }
        if isPaused, bit == Int32(CURLPAUSE_RECV) { willPauseReading() }
        pauses = new
        libcurl_easy_pause(handle.easy, new)
        multi.reconsider(self)
    }
}
#endif
