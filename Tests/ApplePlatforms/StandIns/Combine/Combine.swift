public protocol Cancellable { func cancel() }
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
}
final public class Future<Output, Failure: Error>: Publisher { public init() {} }
public struct Deferred<DeferredPublisher: Publisher>: Publisher {
    public typealias Output = DeferredPublisher.Output
    public typealias Failure = DeferredPublisher.Failure
}
public struct Empty<Output, Failure: Error>: Publisher {}
