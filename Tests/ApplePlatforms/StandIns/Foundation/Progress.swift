// Progress and key-value observation.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import ObjectiveC

public struct ProgressKind: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let file = ProgressKind(rawValue: "")
}
public struct ProgressUserInfoKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}
@objc open class Progress: NSObject, @unchecked Sendable {
    public init(parent: Progress?, userInfo: [ProgressUserInfoKey: Any]? = nil) {}
    public convenience init(totalUnitCount: Int64) { fatalError() }
    public class func discreteProgress(totalUnitCount: Int64) -> Progress { fatalError() }
    public class func current() -> Progress? { nil }
    open func becomeCurrent(withPendingUnitCount: Int64) {}
    open func resignCurrent() {}
    open func addChild(_ c: Progress, withPendingUnitCount: Int64) {}
    @objc open dynamic var totalUnitCount: Int64 {
        get { 0 }
        set {}
    }
    @objc open dynamic var completedUnitCount: Int64 {
        get { 0 }
        set {}
    }
    @objc open dynamic var fractionCompleted: Double { 0 }
    open var isCancelled: Bool { false }
    open var isFinished: Bool { false }
    open var isIndeterminate: Bool { false }
    open var isCancellable: Bool {
        get { true }
        set {}
    }
    open var isPausable: Bool {
        get { true }
        set {}
    }
    open var isPaused: Bool { false }
    open var cancellationHandler: (@Sendable () -> Void)? {
        get { nil }
        set {}
    }
    open var kind: ProgressKind? {
        get { nil }
        set {}
    }
    open func cancel() {}
    open func pause() {}
    open func resume() {}
    open var localizedDescription: String! {
        get { "" }
        set {}
    }
}
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let new = NSKeyValueObservingOptions(rawValue: 1), old = NSKeyValueObservingOptions(rawValue: 2),
        initial = NSKeyValueObservingOptions(rawValue: 4)
}
public struct NSKeyValueObservedChange<Value> {
    public let newValue: Value?
    public let oldValue: Value?
}
@objc public class NSKeyValueObservation: NSObject { @objc public func invalidate() {} }
#if LENIENT
    extension NSKeyValueObservation: @unchecked Sendable {}
#else
    @available(*, unavailable) extension NSKeyValueObservation: @unchecked Sendable {}
#endif
public protocol _KeyValueCodingAndObserving {}
extension NSObject: _KeyValueCodingAndObserving {}
extension _KeyValueCodingAndObserving {
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation { fatalError() }
}
