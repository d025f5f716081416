import Foundation

/// A response as a request receives it, before it becomes a value of the caller's type.
///
/// Nothing of a request depends on that type but ``ClientRequest/End``: generic code that is compiled in another module
/// than its argument looks up the metadata of its types at each step.
enum ReceivedResponse: Sendable {
    case data(Data, ResponseHead)

    /// The head, and the body that follows.
    case stream(StreamingResponse.Body, ResponseHead)

    /// The body is in a file.
    case file(ResponseHead)
}
