@_exported import Darwin

@objc public protocol NSObjectProtocol: AnyObject {}
@objc open class NSObject: NSObjectProtocol {
    public init() {}
    @objc open func copy() -> Any { self }
}
extension NSObject: Equatable, Hashable {
    public static func == (a: NSObject, b: NSObject) -> Bool { a === b }
    public func hash(into h: inout Hasher) {}
}
extension NSObject: CustomStringConvertible { public var description: String { "" } }
