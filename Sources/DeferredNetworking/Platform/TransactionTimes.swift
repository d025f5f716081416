import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The times at which the phases of a session's task ended, from the platform. swift-corelibs-foundation collects none.
/// Test: `TransactionTimesTests`.
struct TransactionTimes {
    var start: Date
    var nameLookup: Date?
    var connect: Date?
    var tlsHandshake: Date?
    var firstByte: Date?
    var end: Date?
    var isReused = false

    /// The name of the protocol, as in ALPN: RFC 7301.
    var protocolName: String?

    var address: String?
    var port: String?

    var metrics: URLClient.Metrics {
        URLClient.Metrics(
            nameLookup: duration(nameLookup),
            connect: duration(connect),
            tlsHandshake: duration(tlsHandshake),
            firstByte: duration(firstByte),
            total: duration(end),
            isReused: isReused,
            protocolVersion: protocolName.map { Self.versions[$0.lowercased()] ?? $0.uppercased() },
            address: (address.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "") + (port.map { ":\($0)" } ?? "")
        )
    }

    private static let versions = ["h2": "HTTP/2", "h3": "HTTP/3"]

    /// Returns the time from the start to `date`; zero on a reused connection, whose phases have no times, or past
    /// ones.
    private func duration(_ date: Date?) -> Duration {
        .seconds(max(0, date?.timeIntervalSince(start) ?? 0))
    }
}

extension TransactionTimes {
    /// Creates the times of a task's last transaction, if there was one.
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
}
