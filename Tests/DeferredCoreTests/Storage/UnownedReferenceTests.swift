import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct UnownedReferenceTests {
    private final class Object: Sendable {
        let whenDestroyed: @Sendable (Object) -> Void

        init(whenDestroyed: @escaping @Sendable (Object) -> Void) {
            self.whenDestroyed = whenDestroyed
        }

        deinit { whenDestroyed(self) }
    }

    @Test func `an unowned reference gives a strong one until its object is being destroyed`() {
        let reference = Lock<UnownedReference<Object>?>(nil)
        let found = Log<Bool>()
        var object: Object? = Object { _ in
            found.add(reference.withLock { $0 }?.strong != nil)
        }
        reference.withLock { $0 = object.map { UnownedReference($0) } }
        let strong = reference.withLock { $0 }?.strong
        #expect(strong === object && strong != nil)
        object = nil
        #expect(found.entries.isEmpty)
        withExtendedLifetime(strong) {}
    }

    @Test func `an unowned reference gives none while its object is being destroyed, and afterwards`() {
        let reference = Lock<UnownedReference<Object>?>(nil)
        let found = Log<Bool>()
        do {
            let object = Object { _ in found.add(reference.withLock { $0 }?.strong != nil) }
            reference.withLock { $0 = UnownedReference(object) }
        }
        #expect(found.entries == [false])
        #expect(reference.withLock { $0 }?.strong == nil)
    }
}
