internal import DeferredCore
public import DeferredHTTP
public import Dispatch

// The names of the series "HTTP in Swift" that differ from ours, deprecated, so that its code compiles, with warnings that
// name the replacement. `LoaderObject` is the class that its loaders inherit from.

extension HTTPTask {
    /// Creates a task, and calls `completion` with its result, once.
    @available(*, deprecated, message: "use 'HTTPLoader.load(_:completion:)', or 'HTTPTask(_:)'")
    public convenience init(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) {
        self.init(request)
        addCompletionHandler(completion)
    }
}

extension HTTPLoader {
    /// See ``DeferredHTTP/HTTPLoader/load(_:)-(HTTPTask)``.
    @available(*, deprecated, renamed: "load(_:)")
    public func load(task: HTTPTask) { load(task) }

    /// See ``DeferredHTTP/HTTPLoader/load(_:completion:)``.
    @available(*, deprecated, renamed: "load(_:completion:)")
    @discardableResult
    public func load(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) -> HTTPTask {
        load(request, completion: completion)
    }

    /// See ``DeferredHTTP/HTTPLoader/reset()``.
    ///
    /// - Parameter group: Entered now, and left when the loader is reset.
    @available(*, deprecated, message: "use 'reset()', which returns a future")
    public func reset(with group: DispatchGroup) {
        group.enter()
        reset().upon(.immediate) { group.leave() }
    }

    /// See ``DeferredHTTP/HTTPLoader/reset()``.
    @available(*, deprecated, message: "use 'reset().upon(_:execute:)'")
    public func reset(on queue: DispatchQueue = .main, completionHandler: @escaping @Sendable () -> Void) {
        reset().upon(queue) { completionHandler() }
    }
}

extension HTTPError {
    /// See ``DeferredHTTP/HTTPError/init(_:request:response:reason:underlying:)``.
    @available(*, deprecated, renamed: "init(_:request:response:underlying:)")
    public init(
        code: Code,
        request: HTTPRequest,
        response: HTTPResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.init(code, request: request, response: response, underlying: underlyingError)
    }
}

extension HTTPRequest {
    /// See ``DeferredHTTP/HTTPRequest/environment``.
    @available(*, deprecated, renamed: "environment")
    public var serverEnvironment: HTTPEnvironment? {
        get { environment }
        set { environment = newValue }
    }

    /// See ``DeferredHTTP/HTTPRequest/subscript(_:)``.
    @available(*, deprecated, renamed: "subscript(_:)")
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get { self[option] }
        set { self[option] = newValue }
    }
}

/// See ``DeferredHTTP/HTTPEnvironment``.
@available(*, deprecated, renamed: "HTTPEnvironment")
public typealias ServerEnvironment = HTTPEnvironment

extension ApplyEnvironment {
    /// See ``DeferredHTTP/ApplyEnvironment/init(_:)``.
    @available(*, deprecated, renamed: "init(_:)")
    public init(environment: HTTPEnvironment) { self.init(environment) }
}

extension ModifyRequest {
    /// Creates a loader that passes on what `modifier` returns.
    @available(*, deprecated, message: "use 'ModifyRequest { request in … }', which changes the request in place")
    public init(modifier: @escaping @Sendable (HTTPRequest) -> HTTPRequest) {
        self.init { $0 = modifier($0) }
    }
}

extension Throttle {
    /// See ``DeferredHTTP/Throttle/init(maximum:)``.
    @available(*, deprecated, renamed: "init(maximum:)")
    public init(maximumNumberOfRequests: UInt) { self.init(maximum: Int(clamping: maximumNumberOfRequests)) }

    /// See ``DeferredHTTP/Throttle/maximum``.
    @available(*, deprecated, renamed: "maximum")
    public var maximumNumberOfRequests: UInt {
        get { UInt(clamping: maximum) }
        nonmutating set { maximum = Int(clamping: newValue) }
    }
}
