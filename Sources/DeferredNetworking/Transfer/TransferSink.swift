package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Where a transfer's response goes.
///
/// A transfer calls its sink in order, never twice at once, and holds no lock meanwhile. After `finish` it calls nothing
/// and lets go of the sink. What a method throws ends the transfer with that error.
package protocol TransferSink: AnyObject, Sendable {
    /// The transfer is about to begin. A sink that keeps it makes a cycle.
    func begin(_ transfer: Transfer)

    /// A response begins. A second one replaces the first, and all bytes that came with it.
    func receive(head: URLResponse) throws

    func receive(bytes: Data) throws

    /// How far the body of the request, or that of the current response, has come.
    func report(_ progress: BodyProgress)

    /// The end, exactly once. A success means that the whole body was received.
    func finish(_ result: Result<URLResponse, any Error>)
}

extension TransferSink {
    package func begin(_ transfer: Transfer) {}
}
