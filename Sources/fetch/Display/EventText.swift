import Deferred
import Foundation

/// Describes the events of requests for `--verbose`, and the heads of responses for `--include`.
enum EventText {
    /// Returns a line for the event of a file; nil for those that say nothing new.
    static func line(_ event: URLClient.Event, of name: String) -> String? {
        let text: String
        switch event.kind {
        case .created: return nil
        case .finished:
            guard let metrics = event.metrics else { return nil }
            text = times(metrics)
        default: text = "\(event.kind), after \(milliseconds(event.elapsed))"
        }
        return "\(PrintableText.escaping(name)): \(PrintableText.escaping(text))"
    }

    /// Returns the status line and the fields of a response, and an empty line.
    static func head(_ head: ResponseHead) -> String {
        let fields = head.headers.map { PrintableText.escaping("\($0.name): \($0.value)") + "\n" }.joined()
        return "\(head.version ?? "HTTP") \(head.status)\n\(fields)\n"
    }

    private static func times(_ times: URLClient.Metrics) -> String {
        let parts = [
            ("name lookup", times.nameLookup), ("connect", times.connect), ("TLS", times.tlsHandshake),
            ("first byte", times.firstByte), ("total", times.total),
        ]
        let text = parts.map { "\($0.0) \(milliseconds($0.1))" }.joined(separator: ", ")
        guard let version = times.protocolVersion else { return "\(text); no response" }
        return "\(text); \(version) over \(times.isReused ? "an open" : "a new") connection to \(times.address)"
    }

    private static func milliseconds(_ time: Duration) -> String { String(format: "%.1f ms", time / .milliseconds(1)) }
}
