#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Sends requests: all that a transfer sees of `URLSession`, or of whatever carries it instead.
///
/// An engine has a registry of its tasks, keyed by its own identifiers, which retains each one's transfer until the
/// task has ended. It sends a transfer the events of a task one by one and in order. None of its methods waits.
package protocol Engine: AnyObject, Sendable {
    /// Header fields that every request on this engine carries unless it has its own: added before a request is checked.
    var defaultHeaders: [String: String] { get }

    /// Tasks that have not ended.
    var taskCount: Int { get }

    /// Makes a task, and sends the transfer ``EngineEvent/made(_:)`` with it, now or soon. Nothing goes out before it is resumed.
    ///
    /// - Parameter configure: applied to a platform task before it is resumed, where the engine has one.
    func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?)

    /// Ends what runs, and closes all connections. Only for an engine that no lease is held on.
    func invalidate()
}

package typealias EngineTaskConfiguration = @Sendable (URLSessionTask) -> Void

/// One request on its way.
package protocol EngineTask: AnyObject, Sendable {
    /// Never used twice by its engine.
    var identifier: Int { get }

    /// Sends the request. Called once.
    func resume()

    /// Asks for the end, which is told by ``EngineEvent/ended(_:error:)`` as any other.
    func cancel()
}
