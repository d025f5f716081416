import Deferred
import Dispatch
import Foundation

/// Waits for a signal, which does nothing else from then on.
struct SignalListener {
    /// Filled when the signal comes.
    let received: Future<Void>

    private let source: any DispatchSourceSignal

    init(_ number: Int32) {
        signal(number, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        let received = Deferred<Void>()
        source.setEventHandler { received.fill() }
        source.resume()
        self.received = received.future
    }

    func cancel() { source.cancel() }
}
