#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Something that an engine tells the transfer of one of its tasks.
package enum EngineEvent: Sendable {
    /// The task is there, and waits to be resumed. Always the first.
    case made(any EngineTask)

    /// The head of a response. Interim ones may be told, too; of several others, the last one counts.
    case head(URLResponse)

    /// A redirect, instead of its head. Its body is not read; the task has to be cancelled.
    case redirect(HTTPURLResponse)

    /// A challenge, after the head and the body that came with it. Without an answer, the task has to be cancelled.
    case challenge(URLAuthenticationChallenge, answer: ChallengeAnswer?)

    /// Bytes of the body, decoded.
    case bytes(Data)

    /// So many more bytes of the request's body went out, of so many in all when that is known.
    case sent(Int64, of: Int64?)

    /// The body would have to be sent again: a kept-alive connection was lost. The task has to be cancelled.
    case needsBody

    /// The end, with the last head that the engine knows. Always the last of a task.
    case ended(URLResponse?, error: (any Error)?)

    /// The engine is gone, and tells nothing more.
    case invalidated
}

package typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
