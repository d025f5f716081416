import Dispatch
import Foundation

/// Turns signals into calls on the main queue, in place of what they do by default.
@MainActor
final class SignalListener {
    private var sources: [any DispatchSourceSignal] = []

    init(_ signals: [Int32], handler: @escaping @MainActor (Int32) -> Void) {
        for number in signals {
            // On Darwin the source only sees what would not end the process.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler {
                MainActor.assumeIsolated { handler(number) }
            }
            source.resume()
            sources.append(source)
        }
    }
}
