import Foundation

/// Ends a transfer after a silence, for an engine that doesn't.
final class TimedSink: TransferSink {
    private let inner: any TransferSink
    private let deadlines: AttemptDeadlines

    /// Returns `sink`, timed if the engine leaves that to its user.
    static func timing(
        _ sink: any TransferSink,
        of request: CheckedRequest,
        on engine: any Engine,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> any TransferSink {
        guard let idle = engine.idleTimeout else { return sink }
        return TimedSink(sink, AttemptDeadlines(URLClient.Deadlines(idle: idle), request, clock: clock))
    }

    private init(_ inner: any TransferSink, _ deadlines: AttemptDeadlines) {
        self.inner = inner
        self.deadlines = deadlines
    }

    var wantsOwnConnection: Bool { inner.wantsOwnConnection }

    func begin(_ transfer: Transfer) {
        inner.begin(transfer)
        deadlines.begin(transfer)
    }

    func receive(head: ResponseHead) throws {
        deadlines.noteHead()
        try inner.receive(head: head)
    }

    func receive(bytes: Data) throws {
        deadlines.noteActivity()
        try inner.receive(bytes: bytes)
    }

    func noteActivity() {
        deadlines.noteActivity()
    }

    func report(_ progress: BodyProgress) {
        if progress.direction == .sent { deadlines.noteActivity() }
        inner.report(progress)
    }

    func finish(_ result: Result<ResponseHead, any Error>) {
        deadlines.end()
        inner.finish(result)
    }
}
