/// An error of another module that may say that somebody cancelled.
package protocol CancellationIndicating: Error {
    var indicatesCancellation: Bool { get }
}
