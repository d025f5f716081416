internal import CDeferred

/// A reference that does not keep its object alive.
///
/// A weak reference would allocate a side table, and slow down every later retain and release of the object.
///
/// SAFETY: `memory` keeps the memory of the object. The runtime decides whether the object is still alive.
@usableFromInline
package struct UnownedReference<Object: AnyObject>: @unchecked Sendable {
    @usableFromInline unowned let memory: Object
    @usableFromInline let object: Unmanaged<Object>

    @inlinable
    package init(_ object: __shared Object) {
        memory = object
        self.object = .passUnretained(object)
    }

    /// A strong reference to the object, unless it is being destroyed or is gone.
    @inlinable
    package var strong: Object? {
        UnownedReferences.retain(object.toOpaque()) ? object.takeRetainedValue() : nil
    }
}

@usableFromInline
enum UnownedReferences {
    /// Retains the object, unless it is being destroyed or is gone.
    @usableFromInline
    static func retain(_ object: UnsafeMutableRawPointer) -> Bool { deferred_try_retain(object) != nil }

    /// Returns a reference to the node at an address whose memory exists, unless the node is being destroyed.
    static func reference(to address: UInt) -> FutureNode? {
        guard let object = UnsafeMutableRawPointer(bitPattern: address), retain(object) else { return nil }
        return Unmanaged<FutureNode>.fromOpaque(object).takeRetainedValue()
    }
}
