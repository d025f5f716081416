import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The times at which the phases of a session's task ended, from the platform. swift-corelibs-foundation collects none.
/// Test: `TransactionTimesTests`.
extension URLClient.Metrics {
    /// Creates the metrics of a task's last transaction, if there was one.
    init?(_ metrics: URLSessionTaskMetrics) {
        guard let transaction = metrics.transactionMetrics.last, let start = transaction.fetchStartDate else {
            return nil
        }
        self.init(
            start: start,
            nameLookup: transaction.domainLookupEndDate,
            connect: transaction.connectEndDate,
            tlsHandshake: transaction.secureConnectionEndDate,
            firstByte: transaction.responseStartDate,
            end: transaction.responseEndDate,
            isReused: transaction.isReusedConnection,
            protocolName: transaction.networkProtocolName,
            address: transaction.remoteAddress,
            port: transaction.remotePort.map { "\($0)" }
        )
    }

    /// - Parameter protocolName: The name of the protocol, as in ALPN: RFC 7301.
    init(
        start: Date,
        nameLookup: Date?,
        connect: Date?,
        tlsHandshake: Date?,
        firstByte: Date?,
        end: Date?,
        isReused: Bool,
        protocolName: String?,
        address: String?,
        port: String?
    ) {
        // Zero on a reused connection, whose phases have no times, or past ones.
        func duration(_ date: Date?) -> Duration { .seconds(max(0, date?.timeIntervalSince(start) ?? 0)) }
        let versions = ["h2": "HTTP/2", "h3": "HTTP/3"]
        self.init(
            nameLookup: duration(nameLookup),
            connect: duration(connect),
            tlsHandshake: duration(tlsHandshake),
            firstByte: duration(firstByte),
            total: duration(end),
            isReused: isReused,
            protocolVersion: protocolName.map { versions[$0.lowercased()] ?? $0.uppercased() },
            address: (address.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "") + (port.map { ":\($0)" } ?? "")
        )
    }
}
