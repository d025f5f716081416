// The types of Core Foundation that the package passes on, and the classes that are bridged to them without a cost.

@_exported import Darwin
@_exported import ObjectiveC

public typealias CFTypeRef = AnyObject
public typealias CFTypeID = UInt
public typealias CFIndex = Int
public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString
public class CFAllocator {}
public class CFError: Error, @unchecked Sendable {}
public func CFErrorGetCode(_ err: CFError!) -> CFIndex { 0 }
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { 0 }
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex { 0 }
public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! { nil }

@objc public class NSData: NSObject {}
@objc open class NSString: NSObject, @unchecked Sendable {}
@objc open class NSArray: NSObject {
    open var firstObject: Any? { nil }
}
@objc open class NSDictionary: NSObject {
    @nonobjc public subscript(key: Any) -> Any? { nil }
}
@objc open class NSMutableDictionary: NSDictionary {
    public override init() { super.init() }
    @nonobjc public override subscript(key: Any) -> Any? {
        get { nil }
        set {}
    }
}
