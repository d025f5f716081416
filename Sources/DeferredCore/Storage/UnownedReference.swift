internal import CDeferred

/// A reference that does not keep its object.
///
/// A weak one would allocate, and each reference to its object that comes and goes from then on would take a detour.
///
/// SAFETY: `memory` keeps the memory of the object. Whether there is an object left, the runtime decides.
@usableFromInline
package struct UnownedReference<Object: AnyObject>: @unchecked Sendable {
    @usableFromInline unowned let memory: Object
    @usableFromInline let object: Unmanaged<Object>

    @inlinable
    package init(_ object: __shared Object) {
        memory = object
        self.object = .passUnretained(object)
    }

    /// The object, unless it is going.
    @inlinable
    package var strong: Object? {
        UnownedReferences.retain(object.toOpaque()) ? object.takeRetainedValue() : nil
    }
}

@usableFromInline
enum UnownedReferences {
    /// Takes a reference, unless the object is going.
    @usableFromInline
    static func retain(_ object: UnsafeMutableRawPointer) -> Bool { deferred_try_retain(object) != nil }
}
