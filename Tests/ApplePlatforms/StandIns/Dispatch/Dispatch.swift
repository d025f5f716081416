// The part of Dispatch that is used, as the macOS 15 SDK declares it.
@_exported import Darwin
@_exported import ObjectiveC

open class DispatchObject: NSObject {
    public func resume() {}
    public func suspend() {}
    public func activate() {}
    public func setTarget(queue: DispatchQueue?) {}
}
public enum DispatchTimeoutResult: Sendable { case success, timedOut }
public enum DispatchTimeInterval: Equatable, Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}
public struct DispatchTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchTime { fatalError() }
    public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)
    public init(uptimeNanoseconds: UInt64) { rawValue = uptimeNanoseconds }
    public var uptimeNanoseconds: UInt64 { rawValue }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { a.rawValue < b.rawValue }
}
extension DispatchTime {
    public func distance(to o: DispatchTime) -> DispatchTimeInterval { .never }
    public func advanced(by n: DispatchTimeInterval) -> DispatchTime { self }
}
public func + (t: DispatchTime, i: DispatchTimeInterval) -> DispatchTime { t }
public func + (t: DispatchTime, i: Double) -> DispatchTime { t }
public struct DispatchQoS: Equatable, Sendable {
    public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
    public static let background = DispatchQoS(), utility = DispatchQoS(), `default` = DispatchQoS(),
        userInitiated = DispatchQoS(), userInteractive = DispatchQoS(), unspecified = DispatchQoS()
}
public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let barrier = DispatchWorkItemFlags(rawValue: 1), enforceQoS = DispatchWorkItemFlags(rawValue: 2)
}
open class DispatchWorkItem {
    public init(
        qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        block: @escaping @convention(block) () -> Void
    ) {}
    public func perform() {}
    public func cancel() {}
}
open class DispatchQueue: DispatchObject, @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 1), initiallyInactive = Attributes(rawValue: 2)
    }
    public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }
    public static var main: DispatchQueue { fatalError() }
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
    public convenience init(
        label: String,
        qos: DispatchQoS = .unspecified,
        attributes: Attributes = [],
        autoreleaseFrequency: AutoreleaseFrequency = .inherit,
        target: DispatchQueue? = nil
    ) { fatalError() }
    public func sync<T>(execute work: () throws -> T) rethrows -> T { try work() }
    public func sync<T>(flags: DispatchWorkItemFlags, execute work: () throws -> T) rethrows -> T { try work() }
    public func async(execute w: DispatchWorkItem) {}
    @preconcurrency public func async(
        group: DispatchGroup? = nil,
        qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    @preconcurrency public func asyncAfter(
        deadline: DispatchTime,
        qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {}
}
open class DispatchGroup: DispatchObject, @unchecked Sendable {
    public override init() { super.init() }
    public func enter() {}
    public func leave() {}
    @available(*, noasync, message: "Use a TaskGroup instead") public func wait() {}
    @available(*, noasync, message: "Use a TaskGroup instead") public func wait(timeout: DispatchTime)
        -> DispatchTimeoutResult
    { .success }
    @preconcurrency public func notify(
        qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        queue: DispatchQueue,
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
}
open class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public init(value: Int) { super.init() }
    @discardableResult public func signal() -> Int { 0 }
    @available(*, noasync, message: "Await a Task handle instead") public func wait() {}
    @available(*, noasync, message: "Await a Task handle instead") public func wait(timeout: DispatchTime)
        -> DispatchTimeoutResult
    { .success }
}
#if LENIENT
    public typealias DispatchSourceHandler = @Sendable @convention(block) () -> Void
    public protocol DispatchSourceProtocol: NSObjectProtocol, Sendable {
        func cancel()
        func resume()
        func activate()
        func suspend()
    }
#else
    public typealias DispatchSourceHandler = @convention(block) () -> Void
    public protocol DispatchSourceProtocol: NSObjectProtocol {
        func cancel()
        func resume()
        func activate()
        func suspend()
    }
#endif
extension DispatchSourceProtocol {
    public func setEventHandler(
        qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        handler: DispatchSourceHandler?
    ) {}
    public func setEventHandler(handler: DispatchWorkItem) {}
    public func setCancelHandler(
        qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        handler: DispatchSourceHandler?
    ) {}
}
public protocol DispatchSourceTimer: DispatchSourceProtocol {}
public struct DispatchWallTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchWallTime { fatalError() }
    public static let distantFuture = DispatchWallTime(rawValue: .max)
    public init(timespec: timespec) { rawValue = 0 }
    init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (a: DispatchWallTime, b: DispatchWallTime) -> Bool { a.rawValue < b.rawValue }
}
public func + (t: DispatchWallTime, i: DispatchTimeInterval) -> DispatchWallTime { t }
public func + (t: DispatchWallTime, i: Double) -> DispatchWallTime { t }
extension DispatchSourceTimer {
    public func schedule(
        wallDeadline: DispatchWallTime,
        repeating: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {}
    public func schedule(
        deadline: DispatchTime,
        repeating: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {}
    public func schedule(deadline: DispatchTime, repeating: Double, leeway: DispatchTimeInterval = .nanoseconds(0)) {}
}
public protocol DispatchSourceSignal: DispatchSourceProtocol {}
open class DispatchSource: DispatchObject {
    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let strict = TimerFlags(rawValue: 1)
    }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil) -> any DispatchSourceTimer {
        fatalError()
    }
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal {
        fatalError()
    }
}

public final class DispatchSpecificKey<T>: @unchecked Sendable { public init() {} }
extension DispatchQueue {
    public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
    public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
    public func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
    public var label: String { "" }
}
