#if os(Linux)
import CLibcurl

/// Connections that have died: they are taken out of use when a request has waited in vain on one of them.
extension LibcurlConnections {
    /// The number of renewed origins above which those without requests are forgotten.
    private static let mostRenewed = 16

    /// The silence after which an idle connection isn't trusted when another one to the same address has died. One that
    /// has had something to say just before is not to blame.
    private static let longestTrusted = Duration.seconds(1)

    /// A connection on which a request has waited in vain.
    struct Dead: Sendable {
        let origin: String
        let localPort: Int
        let host: String
        let port: Int

        /// The time for which it was silent.
        let silence: Duration

        /// True if it serves several requests at once, and thus outlives one.
        var isShared = false
    }

    /// Takes the connections out of use that have been silent for as long as a request has waited in vain.
    ///
    /// Those of HTTP/1.1 are closed: the request's own is already, by libcurl.
    func distrust(_ connection: Dead) {
        closeIdle(to: connection, silentFor: min(connection.silence, Self.longestTrusted))
        if connection.isShared, shared != nil { renew(connection.origin) }
    }

    /// Closes connections that no request uses; by default all of them, to leave their descriptors to the next attempt.
    func closeIdle(to connection: Dead? = nil, silentFor silence: Duration = .zero) {
        for multi in multis { multi.closeIdle(to: connection, silentFor: silence) }
    }

    /// Gives an origin new shared connections. The requests on those that it has stay there.
    private func renew(_ origin: String) {
        if let old = renewed.removeValue(forKey: origin) { retire(old) }
        if renewed.count >= Self.mostRenewed, let unused = renewed.first(where: { !isUsed($0.value) }) {
            renewed[unused.key] = nil
            retire(unused.value)
        }
        renewed[origin] = makeMulti(isShared: true)
    }

    private func retire(_ multi: LibcurlMulti) {
        multi.isRetired = true
        removeRetired(multi)
    }

    /// True if requests run on it, or will when their names have been looked up.
    private func isUsed(_ multi: LibcurlMulti) -> Bool { transfers.values.contains { $0.multi === multi } }

    func removeRetired(_ multi: LibcurlMulti) {
        guard multi.isRetired, !isUsed(multi) else { return }
        multis.removeAll { $0 === multi }
        runner.destroy(multi)
    }
}

extension LibcurlTransfer {
    /// The shortest time without a byte that is none of the usual pauses.
    private static let shortestStall = Duration.seconds(1)

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
}
#endif
