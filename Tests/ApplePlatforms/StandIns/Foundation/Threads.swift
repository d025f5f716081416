// Threads, run loops, timers, operation queues and locks.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import ObjectiveC

open class Thread: NSObject {
    @available(*, noasync, message: "Thread.current cannot be used from async contexts.") public class var current:
        Thread
    { fatalError() }
    @preconcurrency public class func detachNewThread(_ b: @escaping @Sendable () -> Void) {}
    @available(*, noasync, message: "Work intended for the main actor should be marked with @MainActor") public class
        var isMainThread: Bool
    { true }
    @available(*, noasync, message: "Use Task.sleep(until:clock:) instead.") public class func sleep(
        forTimeInterval: TimeInterval
    ) {}
    open var name: String? {
        get { nil }
        set {}
    }
    open var stackSize: Int {
        get { 0 }
        set {}
    }
    open func start() {}
    @preconcurrency public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
}
@available(*, unavailable) extension Thread: @unchecked Sendable {}
public class CFRunLoop {}
public func CFRunLoopWakeUp(_ r: CFRunLoop!) {}
open class RunLoop: NSObject {
    public struct Mode: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ s: String) { rawValue = s }
        public static let `default` = Mode(""), common = Mode("")
    }
    @available(*, noasync, message: "currentRunLoop cannot be used from async contexts.") public class var current:
        RunLoop
    { fatalError() }
    public class var main: RunLoop { fatalError() }
    open func getCFRunLoop() -> CFRunLoop { fatalError() }
    @preconcurrency open func perform(inModes: [Mode], block: @escaping @Sendable () -> Void) {}
    @available(*, noasync, message: "run cannot be used from async contexts.") open func run() {}
    @available(*, noasync, message: "run cannot be used from async contexts.") open func run(mode: Mode, before: Date)
        -> Bool
    { true }
    @available(*, noasync, message: "run cannot be used from async contexts.") open func run(until: Date) {}
    open func add(_ t: Timer, forMode: Mode) {}
}
@available(*, unavailable) extension RunLoop: @unchecked Sendable {}
open class Timer: NSObject {
    @preconcurrency public init(
        fire: Date,
        interval: TimeInterval,
        repeats: Bool,
        block: @escaping @Sendable (Timer) -> Void
    ) {}
    open func invalidate() {}
}
@available(*, unavailable) extension Timer: @unchecked Sendable {}
open class Operation: NSObject, @unchecked Sendable {}
open class OperationQueue: NSObject, @unchecked Sendable {
    public override init() { super.init() }
    open func addOperation(_ op: Operation) {}
    @preconcurrency open func addOperation(_ block: @escaping @Sendable () -> Void) {}
    @preconcurrency open func addBarrierBlock(_ block: @escaping @Sendable () -> Void) {}
    open var maxConcurrentOperationCount: Int {
        get { 1 }
        set {}
    }
    open var isSuspended: Bool {
        get { true }
        set {}
    }
    open var name: String? {
        get { nil }
        set {}
    }
    open var qualityOfService: QualityOfService {
        get { .default }
        set {}
    }
    open var underlyingQueue: DispatchQueue? {
        get { nil }
        set {}
    }
    open func cancelAllOperations() {}
    open var operationCount: Int { 0 }
    @available(*, noasync, message: "Use addBarrierBlock(_:)") open func waitUntilAllOperationsAreFinished() {}
    public class var main: OperationQueue { fatalError() }
    public class var current: OperationQueue? { nil }
}
public enum QualityOfService: Int, Sendable { case userInteractive, userInitiated, utility, background, `default` }
open class NSLock: NSObject, @unchecked Sendable {
    @available(*, noasync, message: "Use async-safe scoped locking instead") open func lock() {}
    @available(*, noasync, message: "Use async-safe scoped locking instead") open func unlock() {}
    public func withLock<R>(_ b: () throws -> R) rethrows -> R { try b() }
}
open class NSCondition: NSObject, @unchecked Sendable {
    @available(*, noasync, message: "Use async-safe scoped locking instead") open func lock() {}
    @available(*, noasync, message: "Use async-safe scoped locking instead") open func unlock() {}
    @available(*, noasync, message: "x") open func wait() {}
    @available(*, noasync) open func wait(until: Date) -> Bool { true }
    open func signal() {}
    open func broadcast() {}
    public func withLock<R>(_ b: () throws -> R) rethrows -> R { try b() }
}
