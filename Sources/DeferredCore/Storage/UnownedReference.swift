internal import CDeferred

/// A reference that does not keep its object alive.
///
/// A weak reference would allocate a side table, and slow down every later retain and release of the object.
///
/// `memory` keeps the memory of the object. The runtime decides whether the object is still alive.
@frozen
@usableFromInline
package struct UnownedReference<Object: AnyObject & Sendable>: Sendable {
    @usableFromInline unowned let memory: Object
    @usableFromInline let object: Unmanaged<Object>

    @inlinable
    package init(_ object: __shared Object) {
        memory = object
        self.object = .passUnretained(object)
    }

    /// A strong reference to the object, unless it is being destroyed or is gone.
    @inlinable
    package var strong: Object? { object.strongIfAlive }
}

extension Unmanaged {
    /// A strong reference to the object, unless it is being destroyed or is gone; its memory must still exist.
    @inlinable
    var strongIfAlive: Instance? { tryRetain(toOpaque()) ? takeRetainedValue() : nil }
}

/// Retains the object, unless it is being destroyed or is gone.
///
/// Swift offers this only for weak references. The function is part of the runtime's stable ABI.
@usableFromInline
func tryRetain(_ object: UnsafeMutableRawPointer) -> Bool { swift_tryRetain(object) != nil }
